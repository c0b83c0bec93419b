import { findCommandFault, keepInside, parseCommand } from '../../../bag/index.ts';
import { type JobSpec, schedulerNames, type TaskGroup, type Values } from '../../../messages/index.ts';
import { describeRequirementsError, findImpossible, parseRequirements } from '../../../requirements/index.ts';
import { findNearestWord } from '../../../shared/index.ts';
import { getCredibilityMax, type CredibilityRules, defaultCredibilityRules } from '../../../trust/index.ts';
import { findPlacementFault } from '../placement/read-placement.ts';
import type { SpecFault } from './spec-fault.ts';
import { countTasks } from './task-groups.ts';
import { findEdgesFault } from './validate-edges.ts';
import { findResumptionFault } from './validate-resumption.ts';

/** Tasks that a job may have. */
export const taskCountMax = 2 ** 31;

/** Finds what keeps a spec from being taken in: the value found and the value wanted; undefined when nothing does. */
export function findSpecFault(spec: JobSpec, rules: CredibilityRules = defaultCredibilityRules): SpecFault | undefined {
  return (
    findRangeFault(spec) ??
    findSchedulingFault(spec) ??
    findCountFault(spec) ??
    findGroupsFault(spec) ??
    findEdgesFault(spec) ??
    findResumptionFault(spec) ??
    findGangFault(spec) ??
    findPlacementFault(spec) ??
    findVerificationFault(spec, rules)
  );
}

function bad(message: string): SpecFault {
  return { code: 'MUT_BAD_REQUEST', message };
}

function findRangeFault(spec: JobSpec): SpecFault | undefined {
  const ranges = [
    ['processors', spec.processors, 1, 1_000_000],
    ['replicas_max', spec.replicasMax, 1, 16],
    ['failures_max', spec.failuresMax, 1, 100],
    ['run_time_ms_max', spec.limits.runTimeMax, 0, Number.MAX_SAFE_INTEGER],
    ['memory_bytes_max', spec.limits.memoryMax, 0, Number.MAX_SAFE_INTEGER],
    ['output_bytes_max', spec.limits.outputMax, 0, Number.MAX_SAFE_INTEGER],
  ] as const;
  for (const [name, value, least, most] of ranges) {
    if (!Number.isInteger(value) || value < least || value > most)
      return bad(`${name} is ${value}; expected an integer in ${least}..${most}`);
  }
  return undefined;
}

/** Names and caps that only a client of another release, or one of its own, can ask for. */
function findSchedulingFault({ scheduler, replicationCap }: JobSpec): SpecFault | undefined {
  if (scheduler !== undefined && !schedulerNames.includes(scheduler)) {
    const nearest = findNearestWord(scheduler, schedulerNames);
    return bad(
      `scheduler is ${JSON.stringify(scheduler)}; expected ` +
        `${nearest === undefined ? `one of ${schedulerNames.join(', ')}` : `${nearest}, perhaps`}`,
    );
  }
  if (replicationCap?.kind !== 'share') return undefined;
  const { percent } = replicationCap;
  return Number.isInteger(percent) && percent >= 0 && percent <= 1000
    ? undefined
    : bad(`replication_budget_percent is ${percent}; expected an integer in 0..1000`);
}

function findCountFault(spec: JobSpec): SpecFault | undefined {
  if (spec.groups.length === 0) return bad('the job has no task groups; expected one at least');
  let total = 0;
  for (const [index, group] of spec.groups.entries()) {
    const count = countTasks(group);
    if (!Number.isInteger(count) || count < 1)
      return bad(`task group ${index} has ${count} tasks; expected one at least`);
    total += count;
  }
  return total > taskCountMax ? bad(`the job has ${total} tasks; expected ${taskCountMax} at most`) : undefined;
}

function findGroupsFault(spec: JobSpec): SpecFault | undefined {
  for (const [index, group] of spec.groups.entries()) {
    const fault = findGroupFault(group) ?? findWidthFault(spec, group);
    if (fault !== undefined) return { code: fault.code, message: `task group ${index}: ${fault.message}` };
  }
  return undefined;
}

/** A gang is of as many processors as its job says. */
function findWidthFault(
  job: JobSpec,
  { processors = job.processors, processorsMax = processors }: TaskGroup,
): SpecFault | undefined {
  for (const [name, value, least] of [
    ['processors', processors, 1],
    ['processors_max', processorsMax, processors],
  ] as const) {
    if (!Number.isInteger(value) || value < least || value > 1_000_000)
      return bad(`${name} is ${value}; expected an integer in ${least}..1000000`);
  }
  return job.gang === true && (processors !== job.processors || processorsMax !== processors)
    ? bad(
        `a task of a gang takes ${processors} to ${processorsMax} processors; expected the ${job.processors} of ` +
          'its job',
      )
    : undefined;
}

function findGroupFault(group: TaskGroup): SpecFault | undefined {
  if (group.command.trim() === '' && !group.noOp) return bad('the command is empty; expected a line for the shell');
  if (group.command.includes('\0')) return bad('the command holds a NUL');
  for (const expression of [
    group.requirements,
    ...[...group.inputs, ...group.outputs].map(({ condition }) => condition),
  ]) {
    const parsed = parseRequirements(expression);
    if (parsed.kind === 'error') return { code: 'MUT_REQUIREMENTS_SYNTAX', message: describeRequirementsError(parsed) };
    const impossible = findImpossible(parsed);
    if (impossible !== undefined) return { code: 'MUT_REQUIREMENTS_SYNTAX', message: `requirements, ${impossible}` };
  }
  return findValuesFault(group.values) ?? findPathFault(group) ?? findQuotingFault(group);
}

function findValuesFault(values: Values): SpecFault | undefined {
  if (values.kind === 'list')
    return values.values.some((value) => value.includes('\0'))
      ? bad('a value holds a NUL, which no command can take')
      : undefined;
  if (Number.isSafeInteger(values.first) && Number.isSafeInteger(values.step) && values.step !== 0) return undefined;
  return bad(
    `the values begin at ${values.first} in steps of ${values.step}; expected integers, and a step that is not 0`,
  );
}

/** Values of a range that are looked at; each is a number, which has a meaning nearly everywhere. */
const rangeLookedAtMax = 10_000;

/** What of a value would be read as shell code in the command or the check. */
function findQuotingFault({ command, check, values }: TaskGroup): SpecFault | undefined {
  for (const [name, text] of [
    ['command', command],
    ['check', check],
  ] as const) {
    const fault = findCommandFault(parseCommand(text), valuesLookedAt(values));
    if (fault !== undefined) return bad(`${name}: ${fault}`);
  }
  return undefined;
}

function* valuesLookedAt(values: Values): Iterable<string> {
  if (values.kind === 'list') yield* values.values;
  else
    for (let index = 0; index < Math.min(values.count, rangeLookedAtMax); index++)
      yield String(values.first + index * values.step);
}

/** What cannot be done with tasks whose processors are gathered from several machines. */
function findGangFault({ gang, groups, verification, replicasMax, scheduler }: JobSpec): SpecFault | undefined {
  if (gang !== true) return undefined;
  const unsuitable = (message: string): SpecFault => ({ code: 'MUT_GANG_UNSUITABLE', message });
  if (verification?.kind === 'vote' || verification?.kind === 'credibility')
    return unsuitable(
      `verification is by ${verification.kind}; the results of gangs are not voted on: expected a check, or none`,
    );
  if (replicasMax > 1) return unsuitable(`replicas_max is ${replicasMax}; a gang runs once at a time: expected 1`);
  if (scheduler === 'plan')
    return unsuitable('scheduler is plan, which plans tasks of one machine; expected another one for gangs');
  const index = groups.findIndex(({ noOp }) => noOp);
  return index < 0
    ? undefined
    : unsuitable(`task group ${index} does nothing (no-op); expected a command for its gangs`);
}

/** Most results that a vote may ask for. */
export const voteCountMax = 15;

function findVerificationFault({ verification, groups }: JobSpec, rules: CredibilityRules): SpecFault | undefined {
  if (verification === undefined || verification.kind === 'none') return undefined;
  if (verification.kind === 'check') {
    const index = groups.findIndex(({ check }) => check === '');
    return index < 0
      ? undefined
      : bad(
          `verification is by check and task group ${index} has none; expected a check in each, or another ` +
            'verification',
        );
  }
  const index = groups.findIndex(({ noOp }) => noOp);
  if (index >= 0)
    return bad(
      `verification is by ${verification.kind} and task group ${index} does nothing (no-op); expected tasks ` +
        'with results',
    );
  return verification.kind === 'vote'
    ? findVoteFault(verification.count)
    : findThresholdFault(verification.threshold, rules);
}

function findVoteFault(count: number): SpecFault | undefined {
  return Number.isInteger(count) && count >= 1 && count <= voteCountMax
    ? undefined
    : bad(`verification is vote:${count}; expected an integer in 1..${voteCountMax}`);
}

/**
 * A threshold that machines nobody knows cannot reach together would have tasks run as often as they may, and given up.
 */
function findThresholdFault(threshold: number, rules: CredibilityRules): SpecFault | undefined {
  if (!(threshold > 0 && threshold < 1))
    return bad(`verification is credibility:${threshold}; expected a number above 0 and below 1, such as 0.99`);
  const most = getCredibilityMax(rules);
  return threshold <= most
    ? undefined
    : bad(
        `verification is credibility:${threshold}; expected ${most} at most, which ${rules.votesMax} machines that ` +
          'nobody knows reach when all agree',
      );
}

function findPathFault(group: TaskGroup): SpecFault | undefined {
  for (const { root, path } of [...group.inputs, ...group.outputs]) {
    if (keepInside(path) === undefined) {
      return {
        code: 'MUT_PATH_LEAVES_ROOT',
        message: `the path "${path}" leaves the ${root}; expected one that stays in it`,
      };
    }
  }
  return undefined;
}
