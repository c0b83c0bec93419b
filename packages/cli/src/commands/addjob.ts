import type { Command } from 'commander';

import type { Act } from '../context.ts';
import type { SubmitOptions } from './job/hand-over.ts';
import { submitJob } from './job/submit.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<file>', 'a job file (JDF) or a workflow file; if a second argument follows, the name of the job')
    .argument('[workflow]', 'a workflow file')
    .option('--task-command <command>', 'see "mutirao job submit --help"')
    .option('--wait', 'wait for the end of the job; the exit status says how it ended')
    .option('--progress', 'also print progress when standard error is not a terminal')
    .action((first: string, second: string | undefined, options: SubmitOptions) =>
      act((context) =>
        second === undefined
          ? submitJob(context, first, options)
          : submitJob(context, second, { ...options, label: first }),
      ),
    );
}
