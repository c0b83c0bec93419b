import test from 'ava';
import { cancelFailures, submitError } from '../../../src/slurm/parse-refusal.ts';

test('what sbatch says becomes a code, with its own words', (t) => {
  const failed = (words: string): string => `sbatch: error: Batch job submission failed: ${words}\n`;
  const cases: [string, string][] = [
    [failed('Unable to contact slurm controller (connect failure)'), 'MUT_UNREACHABLE'],
    [failed('Socket timed out on send/recv operation'), 'MUT_UNREACHABLE'],
    [failed('Slurm temporarily unable to accept job, sleeping and retrying'), 'MUT_UNREACHABLE'],
    [failed('Zero Bytes were transmitted or received'), 'MUT_UNREACHABLE'],
    [
      `sbatch: error: invalid partition specified: nix\n${failed('Invalid partition name specified')}`,
      'MUT_BAD_REQUEST',
    ],
    [failed('Invalid account or account/partition combination specified'), 'MUT_BAD_REQUEST'],
    [failed('Invalid qos specification'), 'MUT_BAD_REQUEST'],
    [failed('Requested time limit is invalid (missing or exceeds some limit)'), 'MUT_WALLTIME_MAX'],
    [
      'sbatch: error: ' +
        `QOSMaxWallDurationPerJobLimit\n${failed("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)")}`,
      'MUT_WALLTIME_MAX',
    ],
    [
      'sbatch: error: ' +
        `QOSMaxCpuPerUserLimit\n${failed("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)")}`,
      'MUT_WIDTH_MAX',
    ],
    [
      'sbatch: error: ' +
        `AssocMaxSubmitJobLimit\n${failed("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)")}`,
      'MUT_REQUESTS_MAX',
    ],
    [
      failed("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"),
      'MUT_REQUESTS_MAX',
    ],
    [failed('Requested node configuration is not available'), 'MUT_WIDTH_MAX'],
    [failed('Node count specification invalid'), 'MUT_WIDTH_MAX'],
    [failed('Required partition not available (inactive or drain)'), 'MUT_QUEUE_CLOSED'],
    [failed('Partition in DOWN state'), 'MUT_QUEUE_CLOSED'],
    [failed('System submissions disabled'), 'MUT_QUEUE_CLOSED'],
    [failed('Job can not start due to maintenance reservation.'), 'MUT_QUEUE_CLOSED'],
    [failed('Required node not available (down, drained or reserved)'), 'MUT_QUEUE_CLOSED'],
    ["sbatch: unrecognized option '--bogus'\n", 'MUT_BAD_REQUEST'],
  ];
  for (const [stderr, code] of cases) t.is(submitError(stderr).code, code as never, stderr);
  t.is(
    submitError(cases[4]?.[0] ?? '').message,
    'sbatch: invalid partition specified: nix; Batch job submission failed: Invalid partition name specified',
  );
});

test('a cancel of a job that is over is done, and one that did not reach Slurm is not', (t) => {
  const line = (id: number, words: string): string => `scancel: error: Kill job error on job id ${id}: ${words}\n`;
  const stderr =
    line(7, 'Unable to contact slurm controller (connect failure)') +
    line(8, 'Invalid job id specified') +
    line(9, 'Job/step already completing or completed');
  t.deepEqual([...cancelFailures(stderr, ['7', '8', '9', '10']).keys()], ['7']);
  t.deepEqual([...cancelFailures('scancel: error: something else\n', ['7', '8']).keys()], ['7', '8']);
  t.deepEqual([...cancelFailures('', ['7']).keys()], ['7']);
});
