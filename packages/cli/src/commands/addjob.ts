import type { Command } from 'commander';

import type { Act } from '../context.ts';
import type { SubmitOptions } from './job/hand-over.ts';
import { submitJob } from './job/submit.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<file>', 'a job file; before a second argument, what to call the job')
    .argument('[workflow]', 'a workflow file')
    .option('--task-command <command>', 'as of "job submit"')
    .option('--wait', 'wait until the job has ended')
    .option('--progress', 'show progress also where standard error is no terminal')
    .action((first: string, second: string | undefined, options: SubmitOptions) =>
      act((context) =>
        second === undefined
          ? submitJob(context, first, options)
          : submitJob(context, second, { ...options, label: first }),
      ),
    );
}
