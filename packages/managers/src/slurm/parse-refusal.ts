import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import { listWords } from '../run-tool.ts';

/** Slurm's messages after which it is unknown whether the command was carried out. The first match decides. */
const meanings: readonly (readonly [RegExp, ErrorCode])[] = [
  [
    /unable to contact|connect failure|timed? ?out on send|socket timed out|zero bytes were transmitted|not connected|connection (?:failure|refused|reset)/i,
    'MUT_UNREACHABLE',
  ],
  [
    /temporarily unable to accept|resource temporarily unavailable|standby mode|slurm_persist_conn|authentication.*(?:failed|failure)|munge/i,
    'MUT_UNREACHABLE',
  ],
  [
    /partition not available \(inactive or drain\)|partition in down state|system submissions disabled|maintenance reservation|required node not available/i,
    'MUT_QUEUE_CLOSED',
  ],
  [/requested reservation is invalid|reservation.*not (?:found|usable)/i, 'MUT_NO_ROOM'],
  [/MaxSubmit|MaxJobs|maximum number of jobs|QOSMinCPUNotSatisfied/i, 'MUT_REQUESTS_MAX'],
  [/MaxWall|time limit is invalid|time limit.*exceed|exceeds.*time limit/i, 'MUT_WALLTIME_MAX'],
  [
    /Max(?:Cpu|Node|TRES|GRES)|GrpCpu|GrpNode|GrpTRES|node configuration is not available|node count specification invalid|more processors requested than permitted|job size/i,
    'MUT_WIDTH_MAX',
  ],
  [/violates accounting\/QOS policy/i, 'MUT_REQUESTS_MAX'],
];

/**
 * The error of an `sbatch` that ended with a status other than 0, in its own words. What is not known counts as
 * refused.
 */
export function submitError(stderr: string): MutiraoError {
  const code = meanings.find(([words]) => words.test(stderr))?.[1] ?? 'MUT_BAD_REQUEST';
  return new MutiraoError(code, `sbatch: ${listWords(stderr.replaceAll(/^sbatch: (?:error: )?/gm, ''))}`);
}

/** Words of `scancel` about jobs that are over or never were. */
const harmless = /invalid job id|already completing|completed|not found/i;

/**
 * What `scancel` could not do, by the id of the job. It says nothing of jobs that it cancelled, and little of those
 * that it does not know.
 *
 * @param stderr of a call that ended with a status other than 0.
 */
export function cancelFailures(stderr: string, ids: readonly string[]): Map<string, string> {
  const failures = new Map<string, string>();
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const general = lines.filter((line) => !/job id \d+/i.test(line) && !harmless.test(line));
  const byId = new Map(lines.map((line) => [/job id (\d+)/i.exec(line)?.[1] ?? '', line]));
  for (const id of ids) {
    const line = byId.get(id);
    if (line !== undefined && !harmless.test(line)) failures.set(id, line.trim());
    else if (line === undefined && (general.length > 0 || lines.length === 0))
      failures.set(id, listWords(general.join('\n')));
  }
  return failures;
}
