import type { Command } from 'commander';

import type { Act } from '../context.ts';
import type { SubmitOptions } from './job/hand-over.ts';
import { submitJob } from './job/submit.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<file>', 'a job file')
    .option('--wait', 'wait until the job has ended')
    .option('--progress', 'show progress also where standard error is no terminal')
    .action((file: string, options: SubmitOptions) => act((context) => submitJob(context, file, options)));
}
