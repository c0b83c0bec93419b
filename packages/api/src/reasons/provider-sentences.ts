import { describeSlot } from '@mutirao/core/resources';
import { describeExactTime, plural } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';
import { aside, fromNow, roughly, span } from './numbers.ts';

/** What a provider says of itself and of its requests. */
export const providerSentences = {
  'machines-attach': () => 'Nothing requested: machines attach to this provider by themselves.',
  'demand-covered': () => 'Nothing requested: current allocations and pending requests already cover all demand.',
  'single-processor-machines': ({ taskProcessors }) =>
    `Nothing requested: tasks need ${taskProcessors} processors each, and machines of an allocation have one. --gang combines processors of several machines.`,
  'no-node-has-slot': ({ processors, memoryBytes, gpus, gpuKind }) =>
    `Nothing requested: tasks need ${describeSlot({ processors, memory: memoryBytes, gpus, gpuKind })} of one node, and ` +
    'no node of the resource has that.',
  'queue-unreadable': ({ trouble }) => `Cannot read the resource's queue: ${trouble}.`,
  'queue-stale': ({ trouble }) =>
    `Cannot read the resource's queue${aside(trouble)}: using its last known state and withdrawing nothing.`,
  'queue-not-read': () => "The resource's queue has not been read yet.",
  'queue-hidden': () => "The queue does not show other users' requests, so what waits in it is unknown.",
  'queue-hidden-forecast': () =>
    "The queue does not show other users' requests: assuming that their processors stay busy for the longest " +
    'walltime; what waits is unknown.',
  'queue-shown-stale': ({ trouble }) =>
    `Cannot read the resource's queue${aside(trouble)}: showing its last known state.`,
  'queue-absent': () => "The provider's machines are time-shared and have no queue.",
  'limits-unknown': () => "The resource's limits are not known yet.",
  'requests-paused': ({ pauseMs, refusedRequests, emptyAllocationStreakRequests }) =>
    `Requests paused for ${span(pauseMs)} after failures in a row (${refusedRequests} refused, ${emptyAllocationStreakRequests} ` +
    'ended without a machine). Setting the heuristic, or new work after an idle period, ends the pause.',
  'last-failed-request': ({ requestId }) => `Request ${requestId} failed last.`,
  'provider-stopping': ({ providerId, cause }) =>
    `Nothing requested: provider ${providerId} is stopping${aside(cause)}.`,
  'provider-draining': ({ providerId, cause }) =>
    `Nothing requested: provider ${providerId} is draining${aside(cause)}.`,
  'provider-trouble': ({ trouble }) => trouble,

  'first-request': ({ processors, walltimeMs, isFirst, statedMs, outlastedMs }) =>
    `${unknownTimes(statedMs, outlastedMs)}: requesting ${plural(processors, 'processor')} for ` +
    `${describeExactTime(walltimeMs)} ${isFirst ? 'first' : 'next'}; more once tasks finish.`,
  'first-requests-bounded': ({ walltimeMsMax, unusedSlots, waitsForRequests, statedMs, outlastedMs }) => {
    const unused =
      unusedSlots === 0
        ? ''
        : `, and ${plural(unusedSlots, 'free request slot')} ${unusedSlots === 1 ? 'stays' : 'stay'} unused`;
    const when = waitsForRequests ? 'once tasks finish or waiting requests start' : 'once tasks finish';
    return (
      `${unknownTimes(statedMs, outlastedMs)}: requests are limited to ${describeExactTime(walltimeMsMax)}${unused}; ` +
      `more ${when}.`
    );
  },
  'requests-after-withdrawal': ({ requests }) =>
    `${plural(requests, 'more request')} will follow when the resource manager has withdrawn the replaced ones.`,
  'hourly-budget': ({ submissions, submissionsMax, withdrawals, withdrawalsMax, renewalMs }) =>
    `Hourly budget: ${submissions} of ${plural(submissionsMax, 'submission')} and ${withdrawals} of ` +
    `${plural(withdrawalsMax, 'withdrawal')} left${renewalMs === undefined ? '' : `; more in ${span(renewalMs)}`}.`,
  'widened-for-gang': ({ processorsBefore, processors }) =>
    `Widened from ${processorsBefore} to ${plural(processors, 'processor')}: a gang needs that many at the same time.`,
  'request-in-slots': ({ slots, processors, memoryBytes, gpus, gpuKind }) =>
    `Requested as ${plural(slots, 'slot')} of ${describeSlot({ processors, memory: memoryBytes, gpus, gpuKind })}` +
    `${slots === 1 ? '' : ' each'}.`,
  'widened-to-nodes': ({ processorsBefore, processors, nodeProcessors }) =>
    `Widened from ${processorsBefore} to ${plural(processors, 'processor')}: the resource allocates whole nodes of ` +
    `at least ${plural(nodeProcessors, 'processor')}.`,

  'released-overdue': () => 'Released: its walltime has ended, and the queue that would confirm this cannot be read.',
  'released-no-demand': ({ idleMs }) => `Released: no demand for ${span(idleMs)}.`,
  'released-idle': ({ idleMs }) =>
    `Released: no task has run on it for ${span(idleMs)}, and none is waiting for its processors.`,
  'released-stopping': ({ providerId, cause }) => `Released: provider ${providerId} is stopping${aside(cause)}.`,
  'released-draining': ({ providerId, cause }) => `Released: provider ${providerId} is draining${aside(cause)}.`,
  'withdrawn-stopping': ({ providerId, cause }) => `Withdrawn: provider ${providerId} is stopping${aside(cause)}.`,
  'withdrawn-draining': ({ providerId, cause }) => `Withdrawn: provider ${providerId} is draining${aside(cause)}.`,
  'withdrawn-covered-no-tasks': ({ coveredMs }) =>
    `Withdrawn: running allocations have covered demand for ${span(coveredMs)} and no tasks are pending.`,
  'withdrawn-covered': ({ coveredMs, runningProcessors, wantedProcessors }) =>
    `Withdrawn: running allocations have covered demand for ${span(coveredMs)}, with ` +
    `${plural(runningProcessors, 'processor')} for the ${wantedProcessors} in demand now.`,
  'withdrawn-over-limits': ({ processors, walltimeMs, requestProcessorsMax, walltimeMsMax }) =>
    `Withdrawn: it requests ${plural(processors, 'processor')} for ${describeExactTime(walltimeMs)}, but the ` +
    `resource now allows at most ${requestProcessorsMax} for ${describeExactTime(walltimeMsMax)}.`,

  'requested-inside-reservation': ({ reservationId }) => `Requested inside reservation ${reservationId}.`,
  'requested-inside-waiting-reservation': ({ reservationId, reservedProcessors, startMs, usableProcessors }) =>
    `Requested inside reservation ${reservationId} (${plural(reservedProcessors, 'processor')}), which begins ` +
    `${fromNow(startMs)}: its tasks can use ${usableProcessors} now.`,
  'requested-inside-running-reservation': ({ reservationId, reservedProcessors, leftMs, usableProcessors }) =>
    `Requested inside reservation ${reservationId} (${plural(reservedProcessors, 'processor')}), which lasts another ` +
    `${span(leftMs)}: its tasks can use ${usableProcessors} now.`,
  'pre-acquired-before-start': ({ reservationId, reservedProcessors, startMs }) =>
    `Pre-acquired for reservation ${reservationId} (${plural(reservedProcessors, 'processor')}), which begins ` +
    `${fromNow(startMs)}.`,
  'pre-acquired-after-start': ({ reservationId, reservedProcessors, leftMs }) =>
    `Acquired for reservation ${reservationId} (${plural(reservedProcessors, 'processor')}), which lasts another ` +
    `${span(leftMs)}.`,
  'released-nothing-inside-reservation': ({ reservationId }) =>
    `Released: there is no more demand inside reservation ${reservationId}.`,
  'released-no-pre-acquisition': () => 'Released: this provider no longer pre-acquires processors for reservations.',
  'released-reservation-ended': ({ reservationId }) => `Released: reservation ${reservationId} has ended.`,
  'released-reservation-moved': ({ reservationId }) => `Released: reservation ${reservationId} has ended or was moved.`,
  'released-reservation-shrank': ({ reservationId, reservedProcessors }) =>
    `Released: reservation ${reservationId} shrank to ${plural(reservedProcessors, 'processor')}, which other ` +
    'allocations already hold.',
  'withdrawn-reservation-shrank': ({ reservationId, reservedProcessors }) =>
    `Withdrawn: reservation ${reservationId} now has ${plural(reservedProcessors, 'processor')}.`,
  'withdrawn-for-reservation': ({ reservationId }) => `Withdrawn: reservation ${reservationId} needs its request slot.`,
  'claim-refused': ({ refusalCode }) => `The claim was refused (${refusalCode}).`,

  requeued: () => 'The resource manager put the request back into its queue.',
  'ended-by-manager': ({ cause }) => `The resource manager ended the request${aside(cause)}.`,
  'refused-by-manager': ({ cause }) => `The resource manager refused the request${cause === '' ? '' : `: ${cause}`}.`,
  'withdrawn-by-manager': () => 'The resource manager has withdrawn the request.',
  'released-not-listed': () => 'The request was released and is no longer listed.',
  'vanished-from-listings': ({ listings }) =>
    `The request was missing from ${plural(listings, 'listing')} in a row, and none of its agents is connected.`,

  'pre-acquisition': ({ status, readyProcessors, reservedProcessors, requestedProcessors }) =>
    `${status.charAt(0).toUpperCase()}${status.slice(1)}: ` +
    `${preAcquired(readyProcessors, reservedProcessors, requestedProcessors)}.`,
  'pre-acquisition-of-reservation': ({ reservationId, readyProcessors, reservedProcessors, requestedProcessors }) =>
    `Reservation ${reservationId}: ${preAcquired(readyProcessors, reservedProcessors, requestedProcessors)}.`,
  'pre-acquisition-by-forecast': () => "They will be requested when the queue's forecast requires it.",
  'pre-acquisition-from': ({ requestUnixMs }, { instant }) => `They will be requested at ${instant(requestUnixMs)}.`,
  'pre-acquisition-expected': ({ expectedUnixMs, startUnixMs }, { instant }) =>
    `In the present queue all would be ready at ${instant(expectedUnixMs)}, ` +
    `${beforeStart(startUnixMs - expectedUnixMs)}.`,
  'pre-acquisition-chance': ({ percent }) =>
    `${Math.round(percent)} % of similar past requests started within the time remaining.`,
  'pre-acquisition-late': ({ lateMs }) => `The last processor was ready ${span(lateMs)} after the start.`,
  'pre-acquisition-shortened': () =>
    'The allocation will be released earlier than requested, when the reservation now ends.',
  'pre-acquisition-renewed': ({ missingMs }) =>
    `The allocation ends ${roughly(missingMs)} before the reservation, and will be requested again then.`,
  'pre-acquisition-surplus': ({ surplusProcessors }) =>
    `${plural(surplusProcessors, 'more processor')} than reserved ${surplusProcessors === 1 ? 'is' : 'are'} ` +
    'allocated, as part of a request that is needed.',
  'further-reservations': ({ reservations }) => `${plural(reservations, 'more reservation')} not listed here.`,
  'reservations-guaranteed': ({ guaranteedReservations, reservations }) =>
    `The site's resource manager guarantees ${guaranteedReservations} of ${plural(reservations, 'reservation')}.`,
  'reservations-unreadable': ({ trouble }) => `Cannot read the site's reservations: ${trouble}.`,
  'reservation-not-guaranteed': ({ reservationId, cause }) =>
    `Reservation ${reservationId} is not guaranteed: ${cause === '' ? 'it is being requested' : cause}.`,
  'further-not-guaranteed': ({ reservations }) => `${plural(reservations, 'more reservation')} not guaranteed.`,
} satisfies Partial<Catalogue>;

function unknownTimes(statedMs: number, outlastedMs: number): string {
  const stated = statedMs === 0 ? '' : ` apart from the stated ${describeExactTime(statedMs)}`;
  const outlasted = outlastedMs === 0 ? '' : `, and none has finished within ${span(outlastedMs)}`;
  return `Task run times are unknown${stated}${outlasted}`;
}

function preAcquired(ready: number, reserved: number, requested: number): string {
  return `${ready} of ${plural(reserved, 'processor')} ready, ${requested} requested; best effort`;
}

function beforeStart(earlyMs: number): string {
  if (earlyMs === 0) return 'when the reservation begins';
  return `${roughly(Math.abs(earlyMs))} ${earlyMs > 0 ? 'before' : 'after'} the reservation begins`;
}
