-- Merges news into what is known of a token, and tells others if that changes it. The rules are those of
-- News::merge: the later reset counts, and of the rests since then the one that ends last, unless a probe has succeeded
-- after its end; of each pair of a moment and a word the later one counts.
--
-- KEYS[1]: the token's key. ARGV: the news, the channel, what follows the value in a message, how long the key is
-- kept after its latest moment, how long a bar is kept, and how far two clocks' readings of a moment may differ.
-- All in milliseconds. Returns 1 if something has changed.

local VERSION, AT, UNTIL, CLEARED, RECOVERED, PAIRS = 1, 2, 3, 8, 9, 10
-- The words of a rest, in the order in which they decide which of two is the greater.
local REST = {UNTIL, AT, 4, 5, 6, 7}

local function words(text)
  local found = {}
  for word in string.gmatch(text, '%S+') do
    found[#found + 1] = #found + 1 < PAIRS and tonumber(word) or word
  end
  return found
end

local slack = tonumber(ARGV[6])
local new = words(ARGV[1])
-- Before Redis 7 the error of a call in a script has another code: this is the same in all.
local text = redis.pcall('GET', KEYS[1])
if type(text) == 'table' then
  if string.find(text.err, 'WRONGTYPE', 1, true) then
    return redis.error_reply('TIDEGATEFOREIGN it is of another type')
  end
  return text
end
local known = text and words(text) or {VERSION, 0, 0, 0, 0, 0, 0, 0, 0}
if type(known[1]) == 'number' and known[1] > VERSION then
  return redis.error_reply('TIDEGATENEWER it was written by a newer version of Tidegate')
end
if known[1] ~= VERSION or #known < PAIRS - 1 or #known % 2 == 0 then
  return redis.error_reply('TIDEGATEFOREIGN it holds something that is not Tidegate\'s')
end

local cleared = math.max(known[CLEARED], new[CLEARED])
local recovered = math.max(known[RECOVERED], new[RECOVERED])
local merged = {VERSION, 0, 0, 0, 0, 0, 0, cleared, recovered}

local function is_greater(one, other)
  for _, at in ipairs(REST) do
    if one[at] ~= other[at] then
      return one[at] > other[at]
    end
  end
  return false
end
for _, news in ipairs({known, new}) do
  local runs = recovered == 0 or news[UNTIL] > recovered + slack
  if news[CLEARED] == cleared and runs and is_greater(news, merged) then
    for _, at in ipairs(REST) do
      merged[at] = news[at]
    end
  end
end

local latest = math.max(merged[AT], merged[UNTIL], cleared, recovered)
for at = PAIRS, math.max(#known, #new), 2 do
  local old, other = known, new
  if not old[at] then
    old, other = new, known
  end
  local is_newer = other[at]
    and (tonumber(other[at]) > tonumber(old[at]) or (tonumber(other[at]) == tonumber(old[at]) and other[at + 1] > old[at + 1]))
  local later = is_newer and other or old
  merged[at], merged[at + 1] = later[at], later[at + 1]
  latest = math.max(latest, tonumber(later[at]))
end

for at = 1, PAIRS - 1 do
  merged[at] = string.format('%.0f', merged[at])
end
local value = table.concat(merged, ' ')
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local kept = latest + tonumber(ARGV[4]) - now
if merged[PAIRS + 1] == '1' then
  kept = math.max(kept, tonumber(ARGV[5]))
end
redis.call('SET', KEYS[1], value, 'PX', string.format('%.0f', math.max(kept, 1)))
if value == text then
  return 0
end
redis.call('PUBLISH', ARGV[2], value .. ARGV[3])
return 1
