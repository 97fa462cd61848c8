//! The program `ubauc`.

mod atomic;
mod data;

use clap::Parser;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[arg(long, global = true)]
    json: bool,
    #[arg(long, global = true)]
    quiet: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List, download or generate data
    Data(data::DataArgs),
}

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let Command::Data(args) = &cli.command;
    let output = data::Output {
        json: cli.json,
        quiet: cli.quiet,
    };
    match data::run(args, output) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ubauc: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
