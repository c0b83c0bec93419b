import type { ProviderRecord } from '@mutirao/api/broker';
import { RequestStatus, type AllocationRequest as RequestWire, type RequestCandidate } from '@mutirao/api/provider';
import { reasonDocument } from '@mutirao/api/reasons';

import type { AllocationRequest, ProviderList, ProviderRow } from '../../schema/index.ts';
import { instantOrNull, getEnumName } from './names.ts';

const requestsMax = 1000;
const candidatesMax = 100;

/** All providers with their requests that have not ended. */
export function providerList(providers: readonly ProviderRecord[], requests: readonly RequestWire[]): ProviderList {
  return {
    providers: providers.map((provider) => providerRow(provider, requests)),
    requests: requests.slice(-requestsMax).map(requestDocument),
    requests_left_out: Math.max(0, requests.length - requestsMax),
  };
}

/** A provider as its broker knows it. @param requests of all providers. */
export function providerRow(provider: ProviderRecord, requests: readonly RequestWire[]): ProviderRow {
  const count = (wanted: RequestStatus): number =>
    requests.filter(({ providerId, status }) => providerId === provider.providerId && status === wanted).length;
  return {
    provider_id: provider.providerId,
    address: provider.address,
    connected: provider.connected,
    machines: provider.machines,
    last_error: provider.lastError,
    requests_queued: count(RequestStatus.QUEUED),
    requests_running: count(RequestStatus.RUNNING),
    resource_id: provider.resourceId ?? null,
    draining_since_unix_ms: provider.drainingSinceUnixMs ?? null,
    draining_reason: provider.drainingReason,
    running_tasks: provider.runningTasks,
  };
}

/** An allocation request with what its heuristic compared. */
export function requestDocument(request: RequestWire): AllocationRequest {
  return {
    provider_id: request.providerId,
    request_id: request.requestId,
    manager_request_id: request.managerRequestId,
    status: getEnumName(RequestStatus, request.status),
    width_processors: request.widthProcessors,
    walltime_ms: request.walltimeMs,
    submitted_unix_ms: instantOrNull(request.submittedUnixMs),
    started_unix_ms: instantOrNull(request.startedUnixMs),
    ended_unix_ms: instantOrNull(request.endedUnixMs),
    seen_unix_ms: instantOrNull(request.seenUnixMs),
    heuristic: request.heuristic,
    reasons: request.reasons.map(reasonDocument),
    candidates: request.candidates.slice(0, candidatesMax).map(candidateDocument),
  };
}

/** What a heuristic compared. */
export function candidateDocument(one: RequestCandidate): AllocationRequest['candidates'][number] {
  return {
    width_processors: one.widthProcessors,
    walltime_ms: one.walltimeMs,
    starts_unix_ms: one.startsUnixMs,
    throughput_tasks_per_hour: one.throughputTasksPerHour,
    chosen: one.chosen,
  };
}
