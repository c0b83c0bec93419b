import type { TailTaskOutputRequest, TailTaskOutputResponse } from '@mutirao/api/broker';
import {
  asBuffer,
  badRequest,
  boundNumber,
  encodeTaskStatus,
  type LiveBytes,
  type LiveOutputPart,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { findTaskSummary, type BrokerReplica } from '@mutirao/core/machines/broker';
import type { TaskStatus } from '@mutirao/core/messages';
import type { Bytes, Duration, MachineId, ReplicaId } from '@mutirao/core/shared';
import type { CallContext, ServerStreamHandler, StreamWriter } from '@mutirao/runtime/rpc';

import type { ReplicaRecord } from '../journal/records.ts';
import type { OpenQuestion } from '../live-output/live-outputs.ts';
import { OpenTails } from '../live-output/open-tails.ts';
import { restOfOutput } from '../live-output/rest-of-output.ts';
import { getOrigin } from '../staging/task-of-job.ts';
import { getJob, type BrokerParts } from './broker-parts.ts';
import { findReportingRecord } from './get-task-output.ts';

/** Bytes of a record in one message. */
const chunkBytes: Bytes = 256 * 1024;
/** Until a machine is asked again that had nothing to say. */
const askAgainAfter: Duration = 100;

const endedStatuses: ReadonlySet<TaskStatus> = new Set(['finished', 'failed', 'cancelled']);

/**
 * Sends what a task writes while it runs, and ends when the task has ended.
 *
 * It follows one replica as long as that lives. What its machine did not send before the end comes from the record of
 * the end. The machine is asked again only when the reader has taken what came before: a slow reader costs nobody
 * anything, and finds that bytes are missing.
 */
export function tailTaskOutputRoute(
  parts: BrokerParts,
): ServerStreamHandler<TailTaskOutputRequest, TailTaskOutputResponse> {
  const openTails = new OpenTails();
  return async (request, writer, context) => {
    requirePlace(request);
    const close = openTails.open(context.userId);
    const tail = new TaskTail(parts, request, { writer, context });
    try {
      await tail.run();
    } finally {
      tail.close();
      close();
    }
  };
}

/** Refuses what an agent would refuse. @throws {MutiraoError} MUT_BAD_REQUEST */
function requirePlace(request: TailTaskOutputRequest): void {
  for (const name of ['replicaId', 'standardOutputOffset', 'standardErrorOffset'] as const)
    if (!Number.isSafeInteger(request[name])) throw badRequest(`${name} is ${request[name]}; expected an integer`);
  boundNumber(request.standardOutputOffset, 'contentBytes', 'standard_output_offset');
  boundNumber(request.standardErrorOffset, 'contentBytes', 'standard_error_offset');
}

interface Reader {
  readonly writer: StreamWriter<TailTaskOutputResponse>;
  readonly context: CallContext;
}

/** What a reader has: of one replica, up to these offsets. */
interface Place {
  replicaId: ReplicaId;
  machineId: MachineId;
  standardOutputOffset: Bytes;
  standardErrorOffset: Bytes;
  /** All that is on record of it was sent. */
  isDone: boolean;
}

class TaskTail {
  readonly #parts: BrokerParts;
  readonly #request: TailTaskOutputRequest;
  readonly #reader: Reader;
  #place: Place;
  #said: TaskStatus | undefined;
  #news: Promise<void> | undefined;
  #question: OpenQuestion | undefined;
  #askedReplicaId: ReplicaId = 0;
  #isUnreadable = false;

  constructor(parts: BrokerParts, request: TailTaskOutputRequest, reader: Reader) {
    const { replicaId, standardOutputOffset, standardErrorOffset } = request;
    this.#parts = parts;
    this.#request = request;
    this.#reader = reader;
    this.#place = { replicaId, machineId: '', standardOutputOffset, standardErrorOffset, isDone: false };
  }

  /** Resolves when the task has ended and all was sent, or the reader has left. @throws {MutiraoError} */
  async run(): Promise<void> {
    const { signal, stopping } = this.#reader.context;
    while (!signal.aborted) {
      if (stopping.aborted)
        throw new MutiraoError(
          'MUT_STOPPING',
          'the broker is stopping; ask again from the same offsets when it is back',
        );
      this.#news ??= this.#awaitNews();
      if (await this.#advance()) return;
    }
  }

  /** Sends all that has come, and waits for more. Whether all was sent. */
  async #advance(): Promise<boolean> {
    const status = this.#findStatus();
    const replica = this.#findReplica();
    if (replica !== undefined && this.#place.replicaId === 0)
      this.#goTo(replica.replicaId, replica.machine.facts.machineId);
    if (status !== this.#said) await this.#write({}, status);
    if (replica?.replicaId !== this.#place.replicaId) await this.#finishReplica();
    if (endedStatuses.has(status) && this.#isOnRecord()) {
      await this.#finish(status);
      return true;
    }
    if (replica === undefined || this.#isUnreadable) await this.#news;
    else await this.#follow(replica);
    return false;
  }

  close(): void {
    this.#question?.drop();
  }

  async #awaitNews(): Promise<void> {
    const { signal, stopping } = this.#reader.context;
    await this.#parts.watchers.next(this.#request.jobId, [signal, stopping]);
    this.#news = undefined;
  }

  /** @throws {MutiraoError} MUT_NOT_FOUND */
  #findStatus(): TaskStatus {
    const { jobId, taskIndex } = this.#request;
    const job = getJob(this.#parts, this.#reader.context.userId, jobId);
    const summary = findTaskSummary(job, taskIndex);
    if (summary === undefined)
      throw new MutiraoError('MUT_NOT_FOUND', `job ${jobId} has no task ${taskIndex}; it has ${job.taskCount}`);
    return summary.status;
  }

  /** An end that is not in the journal yet could still be taken back by a fall. */
  #isOnRecord(): boolean {
    return this.#parts.driver.stalledBy === undefined;
  }

  /** The one that is followed, as long as it is at its machine; else the eldest that runs. */
  #findReplica(): BrokerReplica | undefined {
    const { jobId, taskIndex } = this.#request;
    const replicas = this.#parts.driver.state.jobs.get(jobId)?.tasks.get(taskIndex)?.replicas ?? [];
    const wanted = replicas.filter(({ status }) => status !== 'aborting');
    return (
      wanted.find(({ replicaId }) => replicaId === this.#place.replicaId) ??
      wanted.find(({ status }) => status === 'running') ??
      wanted[0]
    );
  }

  async #follow(replica: BrokerReplica): Promise<void> {
    this.#goTo(replica.replicaId, replica.machine.facts.machineId);
    if (this.#question === undefined || this.#askedReplicaId !== replica.replicaId) this.#ask(replica);
    const question = this.#question;
    const answer = await Promise.race([question?.answer, this.#news?.then(() => 'news' as const)]);
    if (answer === 'news') return; // The question stays open.
    this.#question = undefined;
    await this.#take(answer);
  }

  #ask({ replicaId, machine }: BrokerReplica): void {
    this.#question?.drop();
    const { standardOutputOffset, standardErrorOffset } = this.#place;
    const place = { replicaId, standardOutputOffset, standardErrorOffset };
    const { machineId } = machine.facts;
    this.#askedReplicaId = replicaId;
    this.#question = this.#parts.liveOutputs.ask({ providerId: machine.provider.providerId, machineId, ...place });
  }

  async #take(answer: LiveOutputPart | undefined): Promise<void> {
    if (answer?.state === 'unreadable') {
      this.#isUnreadable = true;
      await this.#write({});
    } else if (answer?.state === 'running' && hasBytes(answer)) {
      const { standardOutput, standardError } = answer;
      await this.#write({ standardOutput, standardError });
    } else {
      // Also where the task runs: a machine that is asked too much answers before there is something to say.
      await Promise.race([this.#news, this.#pause()]);
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.timers.start(askAgainAfter, resolve);
    });
  }

  /** A replica that was followed is at its machine no longer: the rest of what it wrote. */
  async #finishReplica(): Promise<void> {
    const { replicaId, isDone } = this.#place;
    if (replicaId === 0 || isDone) return;
    const record = this.#listRecords().find((found) => found.replicaId === replicaId);
    if (record !== undefined) await this.#writeRecord(record);
  }

  /** The task has ended: what counts of it, where that is not what was followed. */
  async #finish(status: TaskStatus): Promise<void> {
    const record = findReportingRecord(this.#listRecords());
    if (record !== undefined && status !== 'cancelled') await this.#writeRecord(record);
    await this.#write({}, status);
  }

  #listRecords(): readonly ReplicaRecord[] {
    const { jobId, taskIndex } = this.#request;
    const job = getJob(this.#parts, this.#reader.context.userId, jobId);
    const origin = getOrigin(this.#parts.specs.getSpec(job), { jobId, taskIndex });
    const { records } = this.#parts;
    return records.endingsOf(origin.jobId, origin.taskIndex, origin.taskIndex).get(origin.taskIndex) ?? [];
  }

  async #writeRecord({ replicaId, machineId, outputTruncated: isCut }: ReplicaRecord): Promise<void> {
    this.#goTo(replicaId, machineId);
    if (this.#place.isDone) return;
    const { jobId, taskIndex } = this.#request;
    const job = getJob(this.#parts, this.#reader.context.userId, jobId);
    const origin = getOrigin(this.#parts.specs.getSpec(job), { jobId, taskIndex });
    const output = this.#parts.records.getOutput(origin.jobId, origin.taskIndex, replicaId);
    const { standardOutputOffset, standardErrorOffset } = this.#place;
    for (const piece of inChunks(restOfOutput(output?.standardOutput ?? noBytes, isCut, standardOutputOffset)))
      await this.#write({ standardOutput: piece });
    for (const piece of inChunks(restOfOutput(output?.standardError ?? noBytes, isCut, standardErrorOffset)))
      await this.#write({ standardError: piece });
    this.#place.isDone = true;
  }

  #goTo(replicaId: ReplicaId, machineId: MachineId): void {
    if (this.#place.replicaId !== replicaId) {
      this.#place = { replicaId, machineId, standardOutputOffset: 0, standardErrorOffset: 0, isDone: false };
      this.#isUnreadable = false;
    }
    this.#place.machineId = machineId;
  }

  async #write(
    bytes: Partial<Pick<LiveOutputPart, 'standardOutput' | 'standardError'>>,
    status = this.#findStatus(),
  ): Promise<void> {
    const { writer } = this.#reader;
    const place = this.#place;
    const out = bytes.standardOutput ?? { offset: place.standardOutputOffset, bytes: noBytes };
    const err = bytes.standardError ?? { offset: place.standardErrorOffset, bytes: noBytes };
    place.standardOutputOffset = out.offset + out.bytes.length;
    place.standardErrorOffset = err.offset + err.bytes.length;
    this.#said = status;
    const message = {
      status: encodeTaskStatus(status),
      replicaId: place.replicaId,
      machineId: place.machineId,
      standardOutputOffset: out.offset,
      standardOutput: asBuffer(out.bytes),
      standardErrorOffset: err.offset,
      standardError: asBuffer(err.bytes),
      unreadable: this.#isUnreadable,
    };
    if (!writer.write(message)) await writer.drained();
  }
}

function hasBytes({ standardOutput, standardError }: LiveOutputPart): boolean {
  return standardOutput.bytes.length + standardError.bytes.length > 0;
}

function* inChunks(pieces: readonly LiveBytes[]): Generator<LiveBytes> {
  for (const { offset, bytes } of pieces)
    for (let begin = 0; begin < bytes.length; begin += chunkBytes)
      yield { offset: offset + begin, bytes: bytes.subarray(begin, begin + chunkBytes) };
}

const noBytes = new Uint8Array(0);
