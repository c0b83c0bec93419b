import { sayReason } from '@mutirao/api/reasons';
import type { ProviderChange } from '@mutirao/core/machines/provider';
import type { Logger } from '@mutirao/runtime/log';

/** Logs a committed change, at a level that fits how often it occurs. */
export function logChange(log: Logger, change: ProviderChange): void {
  switch (change.kind) {
    case 'RequestDrafted':
      log.info(
        {
          request: change.requestId,
          width: change.width,
          walltime_ms: change.walltime,
          reason: change.reasons.slice(0, 1).map((reason) => sayReason(reason))[0],
        },
        'request drafted',
      );
      break;
    case 'RequestQueued':
      log.info({ request: change.requestId, manager_request: change.managerRequestId }, 'request queued');
      break;
    case 'RequestStarted':
      log.info({ request: change.requestId }, 'request started');
      break;
    case 'RequestRequeued':
      log.warn({ request: change.requestId, reason: sayReason(change.reason) }, 'request requeued');
      break;
    case 'RequestReleasing':
      log.info(
        { request: change.requestId, reason: change.reasons.map((reason) => sayReason(reason)).join(' ') },
        'request released',
      );
      break;
    case 'RequestEnded':
      log.info({ request: change.requestId, status: change.status, reason: sayReason(change.reason) }, 'request ended');
      break;
    case 'HeuristicSwitched':
      log.info(
        { heuristic: change.to.heuristic, default_task_time_ms: change.to.defaultTime },
        'changed the heuristic',
      );
      break;
    case 'MachineJoined':
      log.info({ machine: change.facts.machineId, broker: change.brokerId }, 'machine joined');
      break;
    case 'MachineLost':
      log.info({ machine: change.machineId, reason: change.reason }, 'machine lost');
      break;
    default:
      log.debug(change, 'change');
  }
}
