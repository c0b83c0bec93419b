import type { GetReason } from '@mutirao/core/reasons';
import { describeAmount } from '@mutirao/core/resources';
import { describeBytes, plural } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';
import { awaitedTo } from './waiting-sentences.ts';
import { fromNow, listed, span, splitCount } from './numbers.ts';

/** Why a replica ended, a machine is distrusted or something was cancelled: parts of other sentences. */
export const causeSentences = {
  'cancelled-on-request': () => 'cancelled on request',
  'agent-takes-no-replicas': () => 'the agent is stopping and takes no new replicas',
  'agent-processors-exceeded': ({ requestedProcessors, processors }) =>
    `the task needs ${plural(requestedProcessors, 'processor')}; this machine has ${processors}`,
  'agent-resource-exceeded': ({ resource: kind, resourceName: name, requestedAmount, totalAmount }) =>
    `the task needs ${describeAmount({ kind, name }, requestedAmount)}; this machine has ` +
    (totalAmount === 0 ? 'none' : describeAmount({ kind, name }, totalAmount)),
  'run-time-exceeded': ({ ranMs, runTimeMsMax }) => `ran for ${span(ranMs)}; its limit is ${span(runTimeMsMax)}`,
  'inputs-above-storage': ({ inputBytes, storageBytesMax }) =>
    `the inputs have ${describeBytes(inputBytes)}; the machine stores at most ${describeBytes(storageBytesMax)}`,
  'output-limit-exceeded': ({ outputBytes, outputBytesMax }) =>
    `standard output and error have ${describeBytes(outputBytes)}; their limit is ${describeBytes(outputBytesMax)}`,
  'command-not-executable': () =>
    'exit status 126: a command could not be executed; standard error names it. Make a script executable (chmod +x), ' +
    'or call it as "sh SCRIPT"',
  'command-not-found': ({ workFolder }) =>
    'exit status 127: a command was not found; standard error names it. ' +
    (workFolder === undefined
      ? 'It is neither installed on the machine nor in the folder of the task, which is empty at first: --put copies ' +
        'files into it'
      : `It is neither installed on the machine nor in ${workFolder}`),
  'ended-by-signal': ({ signalNumber }) => `ended by signal ${signalNumber}`,
  'memory-ran-out': ({ memoryPeakBytes }) =>
    'ended by signal 9 when the kernel killed a process on the machine for lack of memory' +
    (memoryPeakBytes === undefined ? '' : `; the memory of the task peaked at ${describeBytes(memoryPeakBytes)}`),
  'no-further-process': () =>
    'no further process could be started: the account has reached its limit ("ulimit -u"), or memory is short',
  'exit-status': ({ exitStatus }) => `exit status ${exitStatus}`,
  'exit-status-of-signal': ({ exitStatus, signalNumber }) =>
    `exit status ${exitStatus}, which shells also give for a command ended by signal ${signalNumber}`,

  'last-loss': ({ endCode, cause }, { say }) => `last loss: ${joined(endCode, say(cause))}`,
  'allocation-too-short': ({ ranMs, walltimeMsMax, providerId }) =>
    `ran for ${span(ranMs)} until its allocation ended; no allocation can last longer than ${span(walltimeMsMax)} ` +
    `(${providerId})`,
  'votes-runs-failed': ({ failures, losses }) =>
    `its runs failed ${plural(failures, 'time')} and were lost ${plural(losses, 'time')} before enough results agreed`,
  'votes-below-threshold': ({ results, threshold }) =>
    `all ${results} results agree, but that is not credible enough for credibility:${threshold}; lower the threshold`,
  'votes-disagree': ({ results }) =>
    `too few of ${plural(results, 'result')} agree; use a check that prints only what must be the same`,
  'dependency-never-met': ({ awaitedId, condition, status }) =>
    condition === 'each'
      ? `the task of job ${awaitedId} that it waited for has failed or was cancelled`
      : `it waited for job ${awaitedId} to ${awaitedTo[condition]}, which has ended as ${status}`,
  'job-expired': ({ expireUnixMs }, { instant }) => `it had not started by ${instant(expireUnixMs)}`,
  'provider-draining-gang': () => 'its provider is draining',
  'provider-releases-all': () => 'its provider releases all its machines',
  'gang-members-not-ready': ({ machineIds }) => `not ready in time: ${listed(machineIds)}`,
  'gang-member-ended': ({ machineId, endCode, cause }, { say }) => joined(machineId, endCode, say(cause)),

  'outvoted-with-certainty': ({ probability }) => `the accepted result is right with probability ${probability}`,
  'replica-misreported': ({ replicaId, cause }, { say }) => `replica r${replicaId}: ${say(cause)}`,
  'output-not-requested': ({ outputIndex, requestedOutputs }) =>
    `it sent output ${outputIndex}; ${requestedOutputs === 0 ? 'none was' : `only ${requestedOutputs} were`} requested`,
  'output-file-not-alone': ({ outputIndex }) => `output ${outputIndex} is a file, and has other files with it`,
  'output-path-twice': ({ outputIndex, path }) => `${JSON.stringify(path)} is twice in output ${outputIndex}`,
  'machine-evidence': ({ evidence, cause }, { say }) => joined(evidence, say(cause)),

  'site-chosen': (chosen) => {
    const { strategy, admissibility, comparedSites, furtherSites, formerProviderId, moved } = chosen;
    const among = `admissible with a = ${admissibility}`;
    const compared = comparedSites.map((entry) => splitCount(entry).join(' ')).join(', ');
    const parts = [
      comparedSites.length === 0
        ? `the only resource ${among}`
        : `the least by ${strategy} of the resources ${among} (${compared}${further(furtherSites)})`,
      lackText(chosen),
      skippedText(chosen),
      formerProviderId === undefined || moved === 'no' ? '' : movedText[moved](formerProviderId),
    ];
    return parts.filter((part) => part !== '').join('; ');
  },
  'site-left': ({ formerProviderId, moved }) =>
    moved === 'no' ? `it left ${formerProviderId}` : movedText[moved](formerProviderId),
  'site-starts-sooner': ({ waitMs, formerProviderId, lateMs }) =>
    `it is expected to start there ${fromNow(waitMs)}; ${formerProviderId}, where it was, is ${span(lateMs)} late`,

  'failed-tasks-reached': ({ failedTasks }) => `stopped at ${plural(failedTasks, 'failed task')}`,
} satisfies Partial<Catalogue>;

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(': ');
}

type SiteChosen = GetReason<'site-chosen'>;

/** Why a task does not stay where it was assigned. */
const movedText = {
  away: (providerId: string) => `${providerId}, where it was, is disconnected`,
  draining: (providerId: string) => `${providerId}, where it was, is draining`,
  unsuitable: (providerId: string) => `${providerId}, where it was, no longer suits it`,
} as const;

function lackText({ strategy, unknownSites, staleSites }: SiteChosen): string {
  if (unknownSites.length + staleSites.length === 0) return '';
  const lacks = [
    unknownSites.length === 0 ? '' : `unknown at ${listed(unknownSites)}`,
    staleSites.length === 0 ? '' : `stale at ${listed(staleSites)}`,
  ];
  return `by ${strategy} because queue data is ${lacks.filter((lack) => lack !== '').join(', and ')}`;
}

function skippedText({ skippedSites, furtherSkippedSites }: SiteChosen): string {
  if (skippedSites.length === 0) return '';
  const isOne = skippedSites.length + furtherSkippedSites === 1;
  const names = furtherSkippedSites === 0 ? listed(skippedSites) : skippedSites.join(', ');
  return `${names}${further(furtherSkippedSites)} ${isOne ? 'is' : 'are'} left to wider tasks`;
}

function further(count: number): string {
  return count === 0 ? '' : ` and ${count} more`;
}
