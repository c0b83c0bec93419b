import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { ProcessName } from '../../grid/programs.ts';

/** Makes `define` of a command that runs one process; all options are the process's own. */
export function defineRun(name: ProcessName): (command: Command, act: Act) => void {
  return (command, act) => {
    command
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .usage("[the process's own options; --help lists them] [-- WORDS...]")
      .action(() => act((context) => runProcess(context, name, command.args)));
  };
}

async function runProcess(context: CommandContext, name: ProcessName, args: readonly string[]): Promise<ExitStatus> {
  const { ownProgram, startProcess } = await import('@mutirao/runtime/processes');
  const { promise, resolve } = Promise.withResolvers<ExitStatus>();
  const [command, ...own] = ownProgram(name);
  const started = startProcess({
    command,
    args: [...own, ...args, ...(context.passedOn === undefined ? [] : ['--', ...context.passedOn])],
    detached: false,
    env: { ...process.env, MUTIRAO_HOME: context.home },
    // An agent may be given its invitation there.
    inheritsInput: name === 'agent',
    stdout: { kind: 'inherit' },
    stderr: { kind: 'inherit' },
    onExit: ({ status }) => {
      resolve(status as ExitStatus);
    },
  });
  const { pid } = started;
  const pass = (): void => {
    // A terminal sends SIGINT to both of us, and a second signal would end the process before it has drained.
    const receivedItself = context.signal.reason === 'SIGINT' && process.stdin.isTTY;
    if (pid !== undefined && !receivedItself) process.kill(pid, 'SIGTERM');
  };
  context.signal.addEventListener('abort', pass, { once: true });
  try {
    return await promise;
  } finally {
    context.signal.removeEventListener('abort', pass);
  }
}
