import type { SubmitJobResponse } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import type { JobSpec } from '@mutirao/core/messages';
import { Option, type Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { jobJson, resumedJson } from '../../json/documents.ts';
import { tell } from '../../output/tell.ts';
import { collect } from '../../usage/repeated-options.ts';
import { followJob } from '../../watch/follow-job.ts';
import { handOver, readJob, type SubmitOptions } from './hand-over.ts';
import { addStandaloneOptions, refuseWithoutHere } from './standalone-options.ts';
import { reserveFor } from './inside-reservation.ts';
import { withdrawOwn } from './reserve-for-deadline.ts';
import { describeResumed } from './describe-resumed.ts';
import { endLine, exitStatusOfJob, noteMissingFile } from './wait.ts';

export function define(command: Command, act: Act): void {
  command
    .usage(
      '[options] [--array SELECTOR | --each-line FILE | --values A,B,C] -- COMMAND {}\n       mutirao job ' +
        'submit [options] FILE',
    )
    .addHelpText(
      'after',
      '\nTasks start in an empty folder of their own: --put brings files and folders there, --get brings ' +
        'results home. Where machines share this folder, --in-place has them start here.\n\nmutirao job submit ' +
        '--put sim.py --get result.txt:result-{}.txt --array 1-10 --wait -- python3 sim.py {}',
    )
    .argument(
      '[file]',
      'a job file (JDF) or a workflow (YAML, WfFormat, DAX, job XML); its format is told by its content',
    )
    .option(
      '--task-command <command>',
      'of a workflow file: the command of tasks that have none, with {id}, {kind}, {seconds}, {dimension}, ' +
        '{inputs} and {outputs} of the task',
    )
    .option(
      '--replace-commands',
      'with --task-command: run that in the place of commands that the file has (without it: only where every ' +
        'task has one)',
    )
    .option('--array <selector>', 'one task per number: 1-1000, 0-90:10, 1,3,5-8')
    .option('--each-line <file>', 'one task per line of a file ("-" is standard input)')
    .option('--values <list>', 'one task per value: a,b,c')
    .option('--put <src[:dst]>', 'file or folder that each task gets in its playpen; may hold {} and {#}', collect)
    .option('--store <src[:dst]>', 'the same, kept on the machine between tasks in $STORAGE', collect)
    .option('--get <src[:dst]>', 'file or folder to bring home after each task; may hold {} and {#}', collect)
    .option('--requirements <expression>', 'machines that will do: "os == linux && mem >= 2048"')
    .option('--check <command>', 'run at home after each task; status 0 accepts its result')
    .option(
      '--verify <how>',
      'before results are taken: none, check, vote:K (machines that agree) or credibility:Q such as credibility:0.99',
    )
    .option(
      '--archive-outputs <folder>',
      'gather outputs in few files, tar archives in that folder, instead of one file each',
    )
    .option(
      '--in-place',
      'tasks start in this folder instead of an empty one, on machines that share it; one run of a task at a time',
    )
    .option('--chdir <folder>', 'as --in-place, with another folder: "--chdir ." is the same')
    .option(
      '--shared-places',
      'outputs of several tasks, also of other jobs, may go to one place at home; the last one stays',
    )
    .option('--label <text>', 'what to call the job')
    .option('--env <name=value>', 'an environment variable of the tasks', collect)
    .option('--processors <count>', 'processors that each task holds, of one machine (default: 1)')
    .option('--gang', 'with --processors: of several machines of one provider, gathered before the task starts')
    .option('--replicas <count>', 'most replicas of one task at once (default: 2)')
    .option(
      '--scheduler <name>',
      'how tasks come to machines: wqr, workqueue, storage-affinity, sufferage, min-min, plan (default: wqr)',
    )
    .option(
      '--placement <strategy[:a]>',
      'which resource tasks join that take several processors: min-ct:0.5, min-wwt:adaptive, none (default: as ' +
        'the grid does)',
    )
    .option(
      '--replication-budget <cap>',
      'what replicas may cost: none (no cap), idle (only idle processors), 20% of what results took; 0% makes ' +
        'none (default: none)',
    )
    .option('--retries <count>', 'failures of a task that are forgiven (default: 2)')
    .option('--limit-time <duration>', 'end a replica after 90s, 1h30m, HH:MM:SS')
    .option('--limit-memory <size>', 'end a replica above 512MiB, 2GiB')
    .option('--limit-output <size>', 'end a replica that prints more')
    .option(
      '--reservation <reservation>',
      'run inside a reservation of yours: its number, or its claim as "reservation show" prints it',
    )
    .addOption(
      new Option(
        '--on-reservation-end <what>',
        'what becomes of tasks that are left when that is over: continue wherever there is a machine, or wait ' +
          '(default: continue)',
      ).choices(['continue', 'wait']),
    )
    .option(
      '--reservations <name>',
      'with --reservation or --deadline: the reservation manager, by name or address (default: ' +
        'MUTIRAO_RESERVATIONS, or the only one of the home folder)',
    )
    .option(
      '--deadline <time>',
      'when it should be done, as in 18:00 or +2h; providers ask for resources accordingly, and where there is ' +
        'a reservation manager the job has processors reserved',
    )
    .option(
      '--task-time <duration>',
      'with --deadline: how long a task takes, for the size of that reservation (default: as tasks of earlier ' +
        'jobs like it did)',
    )
    .option('--no-reservation', 'with --deadline: reserve nothing')
    .option('--no-op', 'machines answer at once and start nothing: measures the way there and back')
    .option(
      '--resume [job]',
      'of a workflow file: run only what is not done of an earlier job of it, by number or last (default: the ' +
        'latest with the same label)',
    )
    .option('--wait', 'wait until the job has ended; the exit status tells how')
    .option('--progress', 'as --wait, with progress also where standard error is no terminal')
    .addOption(new Option('--format <name>', 'format of the file, whatever its content looks like').choices(['jdf']))
    .action((file: string | undefined, options: SubmitOptions) =>
      act(async (context) => {
        if (options.standalone === true && options.resume !== undefined)
          throw new MutiraoError(
            'MUT_BAD_REQUEST',
            '--resume beside --standalone; a broker that ends with its job knows no earlier one',
          );
        if (options.standalone === true)
          return (await import('./submit-standalone.ts')).submitStandalone(context, file, options);
        refuseWithoutHere(options);
        return submitJob(context, file, options);
      }),
    );
  addStandaloneOptions(command);
}

/** Submits a job, and waits for its end where that is wanted. */
export async function submitJob(
  context: CommandContext,
  file: string | undefined,
  options: SubmitOptions,
): Promise<ExitStatus> {
  const job = await reserveFor(context, readJob(context, file, options), options);
  const { jobId, taskCount, resumed, requirementsWarning } = await handOverOrWithdraw(context, job, options);
  if (options.wait !== true && options.progress !== true) {
    tell(context.output, {
      json: () => ({
        job_id: jobId,
        task_count: taskCount,
        resumed: resumed === undefined ? null : resumedJson(resumed),
        warnings: requirementsWarning?.split('\n') ?? [],
      }),
      table: () => [
        `Job ${jobId} is submitted with ${taskCount} ${taskCount === 1 ? 'task' : 'tasks'}. "mutirao job wait ` +
          `${jobId}" waits for it.`,
        ...(resumed === undefined ? [] : describeResumed(resumed, taskCount)),
      ],
      quiet: () => [jobId],
    });
    return 0;
  }
  if (resumed !== undefined) for (const line of describeResumed(resumed, taskCount)) context.output.note(line);
  const ended = await followJob(context, await context.broker(), { jobId, progress: options.progress === true });
  tell(context.output, { json: () => jobJson(ended), table: () => [endLine(ended)], quiet: () => [jobId] });
  await noteMissingFile(context, ended);
  return exitStatusOfJob(ended);
}

/** Hands a job over; what was reserved for it is given back where that fails. */
async function handOverOrWithdraw(
  context: CommandContext,
  job: JobSpec,
  options: SubmitOptions,
): Promise<SubmitJobResponse> {
  try {
    return await handOver(context, job, options);
  } catch (error) {
    await withdrawOwn(context, job, options);
    throw error;
  }
}
