import type { SubmitJobRequest, SubmitJobResponse } from '@mutirao/api/broker';
import { decodeSubmitJob, type SubmitJob } from '@mutirao/api/codecs';
import { encodeReasons } from '@mutirao/api/reasons';
import { findJobByClientId } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import type { UserId } from '@mutirao/core/shared';
import { unary, type UnaryHandler } from '@mutirao/runtime/rpc';

import { checkFiles, checkIndexIsNew } from '../submission/check-files.ts';
import { checkPlaces } from '../submission/check-places.ts';
import { checkRequirements } from '../submission/check-requirements.ts';
import { checkWidths } from '../submission/check-widths.ts';
import { doubtResources } from '../submission/doubt-resources.ts';
import { doubtRequirements } from '../submission/doubt-requirements.ts';
import { fingerprintInputs } from '../submission/fingerprint-inputs.ts';
import { placeInFolder } from '../submission/place-in-folder.ts';
import { resumeJob } from '../submission/resume-job.ts';
import { resolveLocalPaths } from '../submission/resolve-paths.ts';
import { requireOwner, type BrokerParts } from './broker-parts.ts';

/** Takes a job in; all that can be wrong with it is found before anything of it is journaled. */
export function submitJobRoute(parts: BrokerParts): UnaryHandler<SubmitJobRequest, SubmitJobResponse> {
  return unary({
    decode: decodeSubmitJob,
    handle: (request, { userId }) => submitJob(parts, userId, request),
    encode: (response: SubmitJobResponse) => response,
  });
}

async function submitJob(
  parts: BrokerParts,
  userId: UserId,
  { clientJobId, spec: given, resumesJobId }: SubmitJob,
): Promise<SubmitJobResponse> {
  // The same job again, although its inputs may be gone by now.
  const known = findJobByClientId(parts.driver.state, userId, clientJobId);
  // While the journal is behind, it may be of the last turn and not be kept yet.
  if (known !== undefined && parts.driver.stalledBy === undefined)
    return { jobId: known.jobId, taskCount: known.taskCount, warnings: [] };
  parts.room.demand();
  if (touchesHome(given)) requireOwner(parts, userId, 'a job with local paths, a work folder or a check');
  const resolved = await checkTasks(parts, userId, given);
  const places = await checkPlaces(resolved);
  const looked = await fingerprintInputs(resolved, parts.homeFiles);
  const { spec, resumed } =
    resumesJobId === undefined
      ? { spec: looked, resumed: undefined }
      : await resumeJob(parts, { userId, spec: looked, resumesJobId });
  if (spec.gatherFolder !== undefined) await checkIndexIsNew(spec.gatherFolder, parts.driver.state.nextJobId);
  const reply = await parts.otherJobsPlaces.during({ userId, clientJobId, spec }, places, () =>
    parts.driver.ask<SubmitJobResponse>((replyTo) => ({ kind: 'JobSubmitted', replyTo, userId, clientJobId, spec })),
  );
  const { state } = parts.driver;
  const doubts = [...doubtRequirements(spec, state), ...doubtResources(spec, state)];
  return {
    ...reply,
    ...(resumed === undefined ? {} : { resumed }),
    warnings: encodeReasons(doubts),
  };
}

/** Finds what is wrong with tasks alone. @returns them with their paths resolved. */
export async function checkTasks(parts: BrokerParts, userId: UserId, given: JobSpec): Promise<JobSpec> {
  // What tasks of users on other hosts write is kept as blobs.
  if (given.groups.some(({ outputs }) => outputs.some(({ localPath }) => localPath === '')))
    await parts.blobs.requireQuota(userId, 0);
  const resolved = await placeInFolder(resolveLocalPaths(given), parts.workFolderRules);
  checkRequirements(resolved);
  await checkWidths(resolved, {
    state: parts.driver.state,
    machineProcessorsOf: (providerId) => parts.machineProcessorsOf(providerId),
  });
  await checkFiles(resolved, {
    forbidden: parts.forbiddenFolders,
    hasContent: ({ sha256 }) => parts.blobs.has(userId, sha256),
  });
  return resolved;
}

/** Whether a job reads or writes paths at home, or runs a check there. */
export function touchesHome(spec: JobSpec): boolean {
  return (
    spec.gatherFolder !== undefined ||
    spec.workFolder !== undefined ||
    spec.groups.some(
      (group) =>
        group.check !== '' ||
        group.inputs.some((input) => input.source.kind === 'path') ||
        group.outputs.some((output) => output.localPath !== ''),
    )
  );
}
