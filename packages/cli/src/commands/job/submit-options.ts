import { Command, Option } from 'commander';

import { collect } from '../../usage/repeated-options.ts';
import { addDependencyOptions } from './dependency-options.ts';
import { addParameterOptions } from './parameter-options.ts';

/** Adds the options of `job submit` that apply with and without `--standalone`, by subject, the common ones first. */
export function addSubmitOptions(command: Command): void {
  addTaskOptions(command);
  addParameterOptions(command);
  addFileOptions(command);
  addMachineOptions(command);
  addFailureOptions(command);
  addServiceOptions(command);
  addReservationOptions(command);
  addWorkflowOptions(command);
}

function addTaskOptions(command: Command): void {
  command
    .optionsGroup('Common options:')
    .option('--array <selector>', 'one task per number: 1-1000, 0-90:10 (every tenth) or 1,3,5-8')
    .option('--values <list>', 'one task per value: a,b,c')
    .option('--each-line <file>', 'one task per line of the file; "-" reads standard input')
    .option('--put <src[:dst]>', 'copy a file or folder into the folder of each task; may contain {} and {#}', collect)
    .option('--get <src[:dst]>', 'bring a file or folder home after each task; may contain {} and {#}', collect)
    .option('--wait', 'wait for the end of the job; the exit status says how it ended')
    .option('--progress', 'like --wait; also print progress when standard error is not a terminal')
    .option('--label <text>', 'name of the job')
    .option('--env <name=value>', 'set an environment variable of the tasks; may be repeated', collect);
}

function addFileOptions(command: Command): void {
  command
    .optionsGroup('Files:')
    .option('--in-place', 'start tasks in this folder, on machines that share it; one replica of a task at a time')
    .option('--chdir <folder>', 'like --in-place, with another folder')
    .option('--store <src[:dst]>', 'like --put, but keep the copy on the machine between tasks, in $STORAGE', collect)
    .option('--archive-outputs <folder>', 'write outputs into tar archives in this folder, instead of one file each')
    .option('--shared-places', 'allow several tasks or jobs to write the same output file; the last one wins');
}

function addMachineOptions(command: Command): void {
  command
    .optionsGroup('Machines and scheduling:')
    .option('--requirements <expression>', 'only machines that match, for example "os == linux && mem >= 2048"')
    .option('--processors <count>', 'processors of each task, on one machine (default: 1)')
    .option('--cpus <count>', 'like --processors')
    .option(
      '--memory <size>',
      'memory of each task: 4G or 512MiB; a task that uses more is ended; auto or auto:4G to choose it by earlier tasks',
    )
    .option('--gpus <count>', 'GPUs of each task: 1, 0.5 (a share of one) or 2:a100 (of that kind)')
    .option('--resource <name=amount>', 'counted resource of each task, such as licence=1; may be repeated', collect)
    .option(
      '--alternative <request>',
      'another request that suits the tasks: cpus=16,memory=8G,gpus=1,time=30m; may be repeated, in order of preference',
      collect,
    )
    .option('--gang', 'with --processors: use several machines of one provider, started together')
    .option('--replicas <count>', 'most replicas of one task at the same time (default: 2)')
    .option(
      '--replication-budget <cap>',
      'most that redundant replicas may use: none (no limit), idle (idle processors only), or a share of the ' +
        'run time of results, such as 20%; 0% disables them (default: none)',
    )
    .option(
      '--scheduler <name>',
      'how tasks are assigned to machines: wqr, workqueue, storage-affinity, sufferage, min-min or plan (default: wqr)',
    )
    .option(
      '--site-selection <strategy[:a]>',
      'site selection for tasks with several processors: none, min-ct:0.5, min-wwt:adaptive (default: that of the grid)',
    );
}

function addFailureOptions(command: Command): void {
  command
    .optionsGroup('Limits, failures and checks:')
    .option(
      '--retries <count>',
      'retry a failed task this many times (default: 2); --replicas 1 also prevents redundant replicas',
    )
    .option('--retry-memory <factor>', 'retry a task that used more than --memory with this many times as much: x2')
    .option('--failures-max <count|percent>', 'stop the job when this many of its tasks have failed: 10 or 5%')
    .option('--limit-time <duration>', 'end a replica that runs longer: 90s, 1h30m or HH:MM:SS')
    .option('--limit-memory <size>', 'end a replica that uses more memory: 512MiB, 2GiB')
    .option(
      '--limit-output <size>',
      'end a replica that prints more; also the size that is kept (default: 512KiB kept)',
    )
    .option('--check <command>', 'run this at home after each task; exit status 0 accepts the result')
    .option(
      '--verify <how>',
      'when a result is accepted: none, check, vote:K (K machines agree) or credibility:Q such as credibility:0.99',
    )
    .option('--no-op', 'start nothing; machines report success at once, which measures the overhead');
}

function addServiceOptions(command: Command): void {
  command
    .optionsGroup('When tasks start:')
    .option('--running-max <count>', 'run at most this many tasks of the job at once')
    .option(
      '--priority <number>',
      '-1000 to 1000: each point has it served as if submitted an hour earlier (default: 0)',
    )
    .option('--hold', 'start no task before "mutirao job release"')
    .option(
      '--open',
      'accept more tasks from "mutirao job append" until "mutirao job close"; the command may be left out',
    )
    .option('--begin <time>', 'start no task before this time: 18:00, "tomorrow 8:00", +2h or 2026-03-01T14:00Z')
    .option('--expire <time>', 'cancel tasks that have not started by this time: 18:00 or +8h');
  addDependencyOptions(command);
}

/** Options of tasks, not of jobs. */
const appendable: ReadonlySet<string> = new Set([
  ...['array', 'values', 'eachLine', 'param', 'paramFile', 'zip', 'header', 'separator', 'put', 'get', 'store'],
  ...['requirements', 'processors', 'cpus', 'memory', 'gpus', 'resource', 'check', 'op'],
]);

/** Adds those options of `job submit` that apply to tasks which are appended to an open job. */
export function addAppendOptions(command: Command): void {
  const all = new Command();
  addSubmitOptions(all);
  command.optionsGroup('Tasks:');
  for (const option of all.options) {
    if (!appendable.has(option.attributeName())) continue;
    delete option.helpGroupHeading;
    command.addOption(option);
  }
}

function addReservationOptions(command: Command): void {
  command
    .optionsGroup('Deadlines and reservations:')
    .option(
      '--deadline <time>',
      'when the job should be done: 18:00 or +2h; reserves processors if there is a reservation manager',
    )
    .option(
      '--task-time <duration>',
      'with --deadline or --alternative: expected run time of a task (default with --deadline: as in earlier jobs with ' +
        'this label or these commands)',
    )
    .option('--no-reservation', 'with --deadline: reserve nothing')
    .option(
      '--reservation <reservation>',
      'use a reservation of yours: its number, or its claim as "mutirao reservation show" prints it',
    )
    .addOption(
      new Option(
        '--on-reservation-end <what>',
        'for tasks that are unfinished then: continue on any machine, or wait for "mutirao job retry" ' +
          '(default: continue)',
      ).choices(['continue', 'wait']),
    )
    .option(
      '--reservations <name>',
      'name or address of the reservation manager (default: MUTIRAO_RESERVATIONS, else the only one of the ' +
        'home folder)',
    );
}

function addWorkflowOptions(command: Command): void {
  command
    .optionsGroup('Job files and workflows:')
    .option(
      '--resume [job]',
      'run only tasks that an earlier job of this file or these values did not finish, or that a change affects: ' +
        'a job number or last (default: the latest job with the same label)',
    )
    .option(
      '--task-command <command>',
      'command of workflow tasks that have none; {id}, {kind}, {seconds}, {dimension}, {inputs} and {outputs} ' +
        'stand for values of the task',
    )
    .option('--replace-commands', 'with --task-command: replace all commands of the file')
    .addOption(
      new Option('--format <name>', 'read the file in this format (default: found from its content)').choices(['jdf']),
    );
}
