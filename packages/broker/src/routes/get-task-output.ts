import { join } from 'node:path';

import type { GetTaskOutputRequest, GetTaskOutputResponse, TaskFile } from '@mutirao/api/broker';
import { asBuffer, encodeContent } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { findTaskSummary, type BrokerJob } from '@mutirao/core/machines/broker';
import type { OutputContent, TaskGroup } from '@mutirao/core/messages';
import type { TaskIndex } from '@mutirao/core/shared';
import { gatheredIndexName } from '@mutirao/runtime/files';
import type { UnaryHandler } from '@mutirao/runtime/rpc';

import type { ReplicaRecord } from '../journal/records.ts';
import { outputPositions } from '../staging/stager.ts';
import { groupOfTask, getOrigin, valueOfTask } from '../staging/task-of-job.ts';
import { Templates, type FillIn } from '../staging/variables.ts';
import { getJob, type BrokerParts } from './broker-parts.ts';
import { cutOutput } from './output-page.ts';

const nothing = Buffer.alloc(0);

/** What a task wrote and brought home: its accepted replica, or the last one that failed. */
export function getTaskOutputRoute(parts: BrokerParts): UnaryHandler<GetTaskOutputRequest, GetTaskOutputResponse> {
  return ({ jobId, taskIndex, pageToken }, { userId }) => {
    const job = getJob(parts, userId, jobId);
    const summary = findTaskSummary(job, taskIndex);
    if (summary === undefined)
      throw new MutiraoError('MUT_NOT_FOUND', `job ${jobId} has no task ${taskIndex}; it has ${job.taskCount}`);
    const origin = getOrigin(parts.specs.getSpec(job), { jobId, taskIndex });
    const record = findReportingRecord(
      parts.records.endingsOf(origin.jobId, origin.taskIndex, origin.taskIndex).get(origin.taskIndex) ?? [],
    );
    if (record === undefined) {
      throw new MutiraoError(
        'MUT_NOT_FOUND',
        `task ${taskIndex} of job ${jobId} is ${summary.status} and has no output yet`,
      );
    }
    const output = parts.records.getOutput(origin.jobId, origin.taskIndex, record.replicaId);
    const { replicaId, outputTruncated: truncated } = record;
    const whole = {
      standardOutput: asBuffer(output?.standardOutput ?? nothing),
      standardError: asBuffer(output?.standardError ?? nothing),
      files: getFiles(parts, job, { ...record, taskIndex }),
    };
    return { replicaId, truncated, ...cutOutput(whole, replicaId, pageToken) };
  };
}

/** The end that counts: of the accepted replica, or of the last one that failed. */
export function findReportingRecord(records: readonly ReplicaRecord[]): ReplicaRecord | undefined {
  return (
    records.find((record) => record.disposition === 'accepted') ??
    records.findLast((record) => record.disposition === 'failed') ??
    records.at(-1)
  );
}

/** The files that a replica brought home. @param templates those of its job that were read already. */
export function getFiles(
  parts: Pick<BrokerParts, 'specs' | 'driver'>,
  job: BrokerJob,
  record: ReplicaRecord,
  templates = new Templates(),
): TaskFile[] {
  if (record.outputs.length === 0) return [];
  const spec = parts.specs.getSpec(job);
  const group = groupOfTask(spec, record.taskIndex);
  const attributes = parts.driver.state.machines.get(record.machineId)?.facts.attributes;
  const place = { jobId: job.jobId, machineId: record.machineId, attributes: attributes ?? {} };
  const fillIn = templates.fillIn({ taskIndex: record.taskIndex, value: valueOfTask(spec, record.taskIndex) }, place);
  const indexPath = spec.gatherFolder === undefined ? '' : join(spec.gatherFolder, gatheredIndexName(job.jobId));
  const positions = positionsAsked(group, attributes);
  return record.outputs.map((output) => {
    const found = positions === undefined ? undefined : group.outputs[positions[output.outputIndex] ?? -1];
    const path = found === undefined ? output.path : below(shownPath(fillIn, found.path), output);
    const localPath =
      found === undefined || found.localPath === '' ? '' : below(shownPath(fillIn, found.localPath), output);
    return { path, content: encodeContent(output.content), localPath, gatheredIn: localPath === '' ? '' : indexPath };
  });
}

/** Which outputs the machine was asked for; undefined when they depended on a machine that nobody remembers. */
function positionsAsked(
  group: TaskGroup,
  attributes: Readonly<Record<string, string>> | undefined,
): TaskIndex[] | undefined {
  if (attributes === undefined && group.outputs.some((output) => output.condition !== '')) return undefined;
  return outputPositions(group, attributes ?? {});
}

/** The template itself if an attribute of the machine cannot be part of a path: nothing was brought there. */
function shownPath(fillIn: FillIn, template: string): string {
  try {
    return fillIn(template).path;
  } catch {
    return template;
  }
}

function below(path: string, output: OutputContent): string {
  return output.path === '' ? path : `${path.replace(/\/$/, '')}/${output.path}`;
}
