//! `ubauc completions` and `ubauc man`: what `--help` says, as shells and `man` read it.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use ubauc::atomic::AtomicFile;

use crate::args::Cli;

/// What was typed after `ubauc completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc completions bash > ~/.local/share/bash-completion/completions/ubauc\n  \
    ubauc completions zsh > ~/.zfunc/_ubauc\n  \
    ubauc completions fish > ~/.config/fish/completions/ubauc.fish")]
pub(crate) struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// What was typed after `ubauc man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ubauc man | man -l -\n  \
    ubauc man --output ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write ubauc.1 and a page for each command into this directory, which is made if it is not there
    /// [default: the page of the program on standard output]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<()> {
    // Into memory first: the crate panics where a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ubauc", &mut script);
    Ok(io::stdout().lock().write_all(&script)?)
}

pub(crate) fn man(args: &ManArgs) -> Result<()> {
    let mut program = Cli::command();
    program.build();
    let Some(dir) = &args.output else {
        return Ok(io::stdout().lock().write_all(&page(program)?)?);
    };
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut left = vec![program];
    while let Some(command) = left.pop() {
        let mut own: Vec<clap::Command> = (command.get_subcommands())
            .filter(|command| !command.is_hide_set() && command.get_name() != "help")
            .cloned()
            .collect();
        left.append(&mut own);
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = dir.join(format!("{name}.1"));
        let mut file = AtomicFile::create(&path)?;
        file.write_all(&page(command)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        file.commit()?;
    }
    Ok(())
}

fn page(command: clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}
