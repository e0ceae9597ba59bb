//! What the command line can do.

pub(crate) mod serve;

use std::process::ExitCode;

use tidegate_config::Faults;

/// Tells every fault of the settings; 2.
pub(crate) fn report_faults(faults: &Faults) -> ExitCode {
    #[expect(clippy::print_stderr, reason = "the log is set up by the settings, which do not hold")]
    {
        eprintln!("{faults}");
    }
    ExitCode::from(2)
}
