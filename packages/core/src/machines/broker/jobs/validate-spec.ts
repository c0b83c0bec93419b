import { findCommandFault, keepInside, parseCommand } from '../../../bag/index.ts';
import {
  type JobSpec,
  memoryGrowthMax,
  memoryGrowthMin,
  schedulerNames,
  type TaskGroup,
  type Values,
} from '../../../messages/index.ts';
import type { Fault, Refusal } from '../../../reasons/index.ts';
import { findImpossible, parseRequirements } from '../../../requirements/index.ts';
import { findNearestWord } from '../../../shared/index.ts';
import { getCredibilityMax, type CredibilityRules, defaultCredibilityRules } from '../../../trust/index.ts';
import { findSiteSelectionFault } from '../site-selection/read-site-selection.ts';
import { findServiceFault } from './service-fault.ts';
import { countTasks } from './task-groups.ts';
import { findAlternativesFault } from './validate-alternatives.ts';
import { findEdgesFault } from './validate-edges.ts';
import { findResumptionFault } from './validate-resumption.ts';

/** Tasks that a job may have. */
export const taskCountMax = 2 ** 31;

/** Finds what keeps a spec from being taken in: undefined when nothing does. */
export function findSpecFault(spec: JobSpec, rules: CredibilityRules = defaultCredibilityRules): Refusal | undefined {
  return (
    findRangeFault(spec) ??
    findSchedulingFault(spec) ??
    findCountFault(spec) ??
    findGroupsFault(spec) ??
    findEdgesFault(spec) ??
    findResumptionFault(spec) ??
    findGangFault(spec) ??
    findSiteSelectionFault(spec) ??
    findVerificationFault(spec, rules)
  );
}

function bad(fault: Fault): Refusal {
  return { code: 'MUT_BAD_REQUEST', fault };
}

function findRangeFault(spec: JobSpec): Refusal | undefined {
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
      return bad({ code: 'job-number-out-of-range', field: name, value, least, most });
  }
  const fault = findServiceFault(spec) ?? findTimesFault(spec);
  return fault === undefined ? findGrowthFault(spec) : bad(fault);
}

/** A job that expires before it begins would never run. */
function findTimesFault({ beginAt, expireAt }: JobSpec): Fault | undefined {
  return beginAt !== undefined && expireAt !== undefined && expireAt <= beginAt
    ? { code: 'job-expires-before-begin', beginUnixMs: beginAt, expireUnixMs: expireAt }
    : undefined;
}

/** Names and caps that only a client of another release, or one of its own, can ask for. */
function findSchedulingFault({ scheduler, replicationCap }: JobSpec): Refusal | undefined {
  if (scheduler !== undefined && !schedulerNames.includes(scheduler)) {
    const nearest = findNearestWord(scheduler, schedulerNames);
    return bad({
      code: 'job-scheduler-unknown',
      scheduler,
      ...(nearest === undefined ? {} : { nearest }),
      names: schedulerNames,
    });
  }
  if (replicationCap?.kind !== 'share') return undefined;
  const { percent } = replicationCap;
  return Number.isInteger(percent) && percent >= 0 && percent <= 1000
    ? undefined
    : bad({
        code: 'job-number-out-of-range',
        field: 'replication_budget_percent',
        value: percent,
        least: 0,
        most: 1000,
      });
}

/** Whether a job says how much more memory its tasks are given, and that is a factor that can be meant. */
function findGrowthFault({ memoryGrowth }: JobSpec): Refusal | undefined {
  if (memoryGrowth === undefined || (memoryGrowth >= memoryGrowthMin && memoryGrowth <= memoryGrowthMax))
    return undefined;
  const [least, most] = [memoryGrowthMin, memoryGrowthMax];
  return bad({ code: 'job-number-out-of-range', field: 'memory_growth', value: memoryGrowth, least, most });
}

function findCountFault(spec: JobSpec): Refusal | undefined {
  const refusal = findOpenFault(spec);
  if (refusal !== undefined) return refusal;
  if (spec.groups.length === 0 && spec.open !== true) return bad({ code: 'job-without-groups' });
  let total = 0;
  for (const [index, group] of spec.groups.entries()) {
    const count = countTasks(group);
    if (!Number.isInteger(count) || count < 1)
      return bad({ code: 'job-group-without-tasks', groupIndex: index, tasks: count });
    total += count;
  }
  return total > taskCountMax ? bad({ code: 'job-tasks-too-many', tasks: total, tasksMax: taskCountMax }) : undefined;
}

function findGroupsFault(spec: JobSpec): Refusal | undefined {
  for (const [index, group] of spec.groups.entries()) {
    const refusal =
      findGroupFault(group, index) ?? findWidthFault(spec, group, index) ?? findAlternativesFault(spec, group, index);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** A gang is of as many processors as its job says. */
function findWidthFault(
  job: JobSpec,
  { processors = job.processors, processorsMax = processors }: TaskGroup,
  groupIndex: number,
): Refusal | undefined {
  for (const [name, value, least] of [
    ['processors', processors, 1],
    ['processors_max', processorsMax, processors],
  ] as const) {
    if (!Number.isInteger(value) || value < least || value > 1_000_000)
      return bad({ code: 'job-number-out-of-range', field: name, value, least, most: 1_000_000, groupIndex });
  }
  return job.gang === true && (processors !== job.processors || processorsMax !== processors)
    ? bad({
        code: 'job-gang-width-differs',
        groupIndex,
        processorsMin: processors,
        processorsMax,
        jobProcessors: job.processors,
      })
    : undefined;
}

function findGroupFault(group: TaskGroup, groupIndex: number): Refusal | undefined {
  if (group.command.trim() === '' && !group.noOp) return bad({ code: 'job-command-empty', groupIndex });
  if (group.command.includes('\0')) return bad({ code: 'job-command-with-nul', groupIndex });
  for (const expression of [
    group.requirements,
    ...[...group.inputs, ...group.outputs].map(({ condition }) => condition),
  ]) {
    const parsed = parseRequirements(expression);
    const cause = parsed.kind === 'error' ? parsed.fault : findImpossible(parsed);
    if (cause !== undefined)
      return { code: 'MUT_REQUIREMENTS_SYNTAX', fault: { code: 'job-requirements-unreadable', groupIndex, cause } };
  }
  return (
    findValuesFault(group.values, groupIndex) ?? findPathFault(group, groupIndex) ?? findQuotingFault(group, groupIndex)
  );
}

function findValuesFault(values: Values, groupIndex: number): Refusal | undefined {
  if (values.kind === 'list')
    return values.values.some((value) => value.includes('\0'))
      ? bad({ code: 'job-value-with-nul', groupIndex })
      : undefined;
  if (Number.isSafeInteger(values.first) && Number.isSafeInteger(values.step) && values.step !== 0) return undefined;
  return bad({ code: 'job-values-invalid', groupIndex, first: values.first, step: values.step });
}

/** The most values of a range that are checked; each is a number, which is safe nearly everywhere. */
const rangeLookedAtMax = 10_000;

/** What of a value would be read as shell code in the command or the check. */
function findQuotingFault({ command, check, values }: TaskGroup, groupIndex: number): Refusal | undefined {
  for (const [field, text] of [
    ['command', command],
    ['check', check],
  ] as const) {
    const cause = findCommandFault(parseCommand(text), valuesLookedAt(values));
    if (cause !== undefined) return bad({ code: 'job-command-unsafe', groupIndex, field, cause });
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
function findGangFault({ gang, groups, verification, replicasMax, scheduler }: JobSpec): Refusal | undefined {
  if (gang !== true) return undefined;
  const unsuitable = (fault: Fault): Refusal => ({ code: 'MUT_GANG_UNSUITABLE', fault });
  if (verification?.kind === 'vote' || verification?.kind === 'credibility')
    return unsuitable({ code: 'gang-with-votes', verification: verification.kind });
  if (replicasMax > 1) return unsuitable({ code: 'gang-with-replicas', replicasMax });
  if (scheduler === 'plan') return unsuitable({ code: 'gang-with-plan' });
  const index = groups.findIndex(({ noOp }) => noOp);
  return index < 0 ? undefined : unsuitable({ code: 'gang-without-command', groupIndex: index });
}

/** What cannot be done with tasks that are not all there from the start. */
function findOpenFault({ open, edges = [], gatherFolder }: JobSpec): Refusal | undefined {
  if (open !== true) return undefined;
  if (edges.length > 0) return bad({ code: 'open-job-with-edges', edges: edges.length });
  return gatherFolder === undefined ? undefined : bad({ code: 'open-job-with-gathering' });
}

/** Most results that a vote may ask for. */
export const voteCountMax = 15;

function findVerificationFault({ verification, groups }: JobSpec, rules: CredibilityRules): Refusal | undefined {
  if (verification === undefined || verification.kind === 'none') return undefined;
  if (verification.kind === 'check') {
    const index = groups.findIndex(({ check }) => check === '');
    return index < 0 ? undefined : bad({ code: 'verification-without-check', groupIndex: index });
  }
  const index = groups.findIndex(({ noOp }) => noOp);
  if (index >= 0)
    return bad({ code: 'verification-without-results', groupIndex: index, verification: verification.kind });
  return verification.kind === 'vote'
    ? findVoteFault(verification.count)
    : findThresholdFault(verification.threshold, rules);
}

function findVoteFault(count: number): Refusal | undefined {
  return Number.isInteger(count) && count >= 1 && count <= voteCountMax
    ? undefined
    : bad({ code: 'verification-votes-invalid', votes: count, votesMax: voteCountMax });
}

/**
 * With a threshold that unknown machines cannot reach together, tasks would run as often as they may, and be given up.
 */
function findThresholdFault(threshold: number, rules: CredibilityRules): Refusal | undefined {
  if (!(threshold > 0 && threshold < 1)) return bad({ code: 'verification-credibility-invalid', threshold });
  const most = getCredibilityMax(rules);
  return threshold <= most
    ? undefined
    : bad({
        code: 'verification-credibility-unreachable',
        threshold,
        thresholdMax: most,
        votesMax: rules.votesMax,
      });
}

function findPathFault(group: TaskGroup, groupIndex: number): Refusal | undefined {
  for (const { root, path } of [...group.inputs, ...group.outputs]) {
    if (keepInside(path) === undefined) {
      return {
        code: 'MUT_PATH_LEAVES_ROOT',
        fault: { code: 'job-path-outside', groupIndex, path, root },
      };
    }
  }
  return undefined;
}
