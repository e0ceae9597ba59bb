-- Merges news into what is known of a token, and tells others if that changes it. The rules are those of
-- News::merge: the later end of a rest counts, what is older than a reset is void, a probe that succeeded ends the
-- rests before it, and of two decisions of operators the later one holds.
--
-- KEYS[1]: the token's key. ARGV: the news, the channel, what follows the value in a message, how long the key is
-- kept after its latest moment, how long a bar is kept, and how far two clocks' readings of a moment may differ.
-- All in milliseconds. Returns 1 if something has changed.

local AT, UNTIL, CLEARED, RECOVERED, BAR_AT, BARRED = 2, 3, 8, 9, 10, 11

local function words(text)
  local found = {}
  for word in string.gmatch(text, '%S+') do
    found[#found + 1] = tonumber(word)
  end
  return found
end

local slack = tonumber(ARGV[6])
local new = words(ARGV[1])
local text = redis.call('GET', KEYS[1])
local known = text and words(text) or {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
if known[1] and known[1] > 1 then
  return redis.error_reply('TIDEGATENEWER it was written by a newer version of Tidegate')
end
if known[1] ~= 1 or #known ~= 11 then
  return redis.error_reply('TIDEGATEFOREIGN it holds something that is not Tidegate\'s')
end

local cleared = math.max(known[CLEARED], new[CLEARED])
local recovered = math.max(known[RECOVERED], new[RECOVERED])
local function lives(rest)
  return rest[AT] > cleared and rest[AT] > 0 and (recovered == 0 or rest[UNTIL] > recovered + slack)
end

local rest = {0, 0, 0, 0, 0, 0, 0}
if lives(known) and lives(new) then
  local newer = new[AT] > known[AT] or (new[AT] == known[AT] and new[UNTIL] > known[UNTIL])
  local later = newer and new or known
  rest = {1, later[AT], math.max(known[UNTIL], new[UNTIL]), later[4], later[5], later[6], later[7]}
elseif lives(known) then
  rest = known
elseif lives(new) then
  rest = new
end

local newer_bar = new[BAR_AT] > known[BAR_AT] or (new[BAR_AT] == known[BAR_AT] and new[BARRED] > known[BARRED])
local bar = newer_bar and new or known

local merged = string.format('1 %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f', rest[AT], rest[UNTIL], rest[4],
  rest[5], rest[6], rest[7], cleared, recovered, bar[BAR_AT], bar[BARRED])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local kept = math.max(rest[AT], rest[UNTIL], cleared, recovered, bar[BAR_AT]) + tonumber(ARGV[4]) - now
if bar[BARRED] == 1 then
  kept = math.max(kept, tonumber(ARGV[5]))
end
redis.call('SET', KEYS[1], merged, 'PX', string.format('%.0f', math.max(kept, 1)))
if merged == text then
  return 0
end
redis.call('PUBLISH', ARGV[2], merged .. ARGV[3])
return 1
