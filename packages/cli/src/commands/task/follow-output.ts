import { type GetTaskOutputResponse, TaskStatus, type TailTaskOutputResponse } from '@mutirao/api/broker';
import { MutiraoError, registry } from '@mutirao/api/errors';
import type { BrokerClient } from '@mutirao/runtime/clients';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { outputPartJson } from '../../json/documents.ts';
import { writeJson, type Output } from '../../output/output.ts';
import { PrintedStream } from '../../output/printed-stream.ts';
import { getEnumName } from '../../wire/names.ts';

/** The task to follow, and which of its streams. */
export interface Followed {
  readonly jobId: number;
  readonly taskIndex: number;
  readonly streams: 'both' | 'output' | 'error';
}

/** Pause between attempts to reach a broker that is away, and the longest absence. */
const retryMs = 250;
const awayMax = 120_000;

/**
 * Prints the output of a task until it has ended, also while the broker restarts. The status is 0 if it succeeded,
 * else 1.
 *
 * @throws {MutiraoError} MUT_CANCELLED when the user interrupts it (the task goes on); MUT_UNREACHABLE when the broker
 * stays away.
 */
export async function followOutput(
  context: CommandContext,
  broker: BrokerClient,
  followed: Followed,
): Promise<ExitStatus> {
  const printer = new TailPrinter(context.output, followed);
  let receivedAt = context.clock.now();
  for (;;) {
    try {
      for await (const message of broker.tailTaskOutput(printer.request(), context.signal)) {
        receivedAt = context.clock.now();
        printer.take(message);
      }
      if (printer.hasEnded) return await finish(broker, followed, printer);
    } catch (error) {
      if (!context.signal.aborted) {
        if (!(error instanceof MutiraoError) || !registry[error.code].retryable) throw error;
        if (context.clock.now() - receivedAt > awayMax) throw error;
      }
    }
    if (context.signal.aborted) throw interrupted(followed);
    await context.sleep(retryMs);
  }
}

/** After the end of a task, prints the output that a cancelled one left, or why one failed. */
async function finish(broker: BrokerClient, followed: Followed, printer: TailPrinter): Promise<ExitStatus> {
  const { jobId, taskIndex } = followed;
  if (printer.status === TaskStatus.CANCELLED && !printer.hasPrinted)
    printer.printKept(await broker.getTaskOutput({ jobId, taskIndex }));
  const cause = printer.status === TaskStatus.FAILED ? await findCause(broker, followed) : '';
  return printer.finish(cause);
}

/** How the last run of a task failed. */
async function findCause(broker: BrokerClient, { jobId, taskIndex }: Followed): Promise<string> {
  const { tasks } = await broker.listTasks({
    jobId,
    taskIndexes: [taskIndex],
    status: TaskStatus.UNSPECIFIED,
    pageSize: 1,
    fromTaskIndex: taskIndex,
  });
  const last = tasks.find((task) => task.taskIndex === taskIndex)?.replicas.at(-1);
  if (last === undefined) return '';
  const text = last.detail?.text ?? '';
  return text !== '' || last.exitStatus === 0 ? text : `exit status ${last.exitStatus}`;
}

function interrupted({ jobId, taskIndex }: Followed): MutiraoError {
  return new MutiraoError(
    'MUT_CANCELLED',
    `stopped printing; task ${taskIndex} of job ${jobId} goes on. "mutirao job cancel ${jobId} ${taskIndex}" ends it`,
  );
}

const endedStatuses: ReadonlySet<TaskStatus> = new Set([TaskStatus.FINISHED, TaskStatus.FAILED, TaskStatus.CANCELLED]);

/** Prints messages, and keeps the place to continue from after an interruption. */
class TailPrinter {
  readonly #output: Output;
  readonly #followed: Followed;
  readonly #streams = { output: new PrintedStream(), error: new PrintedStream() };
  #replicaId = 0;
  #standardOutputOffset = 0;
  #standardErrorOffset = 0;
  #status: TaskStatus = TaskStatus.UNSPECIFIED;
  #isUnreadable = false;

  constructor(output: Output, followed: Followed) {
    this.#output = output;
    this.#followed = followed;
  }

  get status(): TaskStatus {
    return this.#status;
  }

  /** Whether the task wrote anything that was printed. */
  get hasPrinted(): boolean {
    return this.#standardOutputOffset + this.#standardErrorOffset > 0;
  }

  get hasEnded(): boolean {
    return endedStatuses.has(this.#status);
  }

  /** Requests the output from here on. */
  request(): Parameters<BrokerClient['tailTaskOutput']>[0] {
    const { jobId, taskIndex } = this.#followed;
    return {
      jobId,
      taskIndex,
      replicaId: this.#replicaId,
      standardOutputOffset: this.#standardOutputOffset,
      standardErrorOffset: this.#standardErrorOffset,
    };
  }

  take(message: TailTaskOutputResponse): void {
    if (this.#output.mode !== 'json') this.#note(message);
    else if (this.#isNews(message)) writeJson(this.#output, outputPartJson(this.#followed, message), 0);
    if (message.replicaId !== this.#replicaId) {
      this.#standardOutputOffset = 0;
      this.#standardErrorOffset = 0;
    }
    this.#print('output', message.standardOutput, message.standardOutputOffset - this.#standardOutputOffset);
    this.#print('error', message.standardError, message.standardErrorOffset - this.#standardErrorOffset);
    this.#replicaId = message.replicaId;
    this.#standardOutputOffset = message.standardOutputOffset + message.standardOutput.length;
    this.#standardErrorOffset = message.standardErrorOffset + message.standardError.length;
    this.#status = message.status;
    this.#isUnreadable = message.unreadable;
  }

  /** A broker repeats the last message to a client that asks again. */
  #isNews({ status, replicaId, standardOutput, standardError, unreadable }: TailTaskOutputResponse): boolean {
    return (
      standardOutput.length + standardError.length > 0 ||
      status !== this.#status ||
      replicaId !== this.#replicaId ||
      unreadable !== this.#isUnreadable
    );
  }

  /** Prints the output that is kept of a task which was over before it was followed. */
  printKept({ replicaId, standardOutput, standardError }: GetTaskOutputResponse): void {
    if (standardOutput.length + standardError.length === 0) return;
    this.take({
      status: this.#status,
      replicaId,
      machineId: '',
      standardOutputOffset: 0,
      standardOutput,
      standardErrorOffset: 0,
      standardError,
      unreadable: false,
    });
  }

  /** Prints the rest. @param cause why the task failed; empty if unknown. */
  finish(cause: string): ExitStatus {
    if (this.#output.mode !== 'json') {
      this.#write('output', this.#streams.output.rest());
      this.#write('error', this.#streams.error.rest());
      if (this.#status !== TaskStatus.FINISHED)
        this.#output.note(
          this.#describe(`is ${getEnumName(TaskStatus, this.#status)}${cause === '' ? '' : `: ${cause}`}`),
        );
    }
    return this.#status === TaskStatus.FINISHED ? 0 : 1;
  }

  /** Notes gaps, new runs and waits, which are not output of the task. */
  #note(message: TailTaskOutputResponse): void {
    if (this.#output.mode === 'quiet') return;
    if (message.replicaId === 0 && message.status !== this.#status && !endedStatuses.has(message.status))
      this.#output.note(this.#describe(`is ${getEnumName(TaskStatus, message.status)}; waiting for it to start`));
    if (this.#replicaId !== 0 && message.replicaId !== this.#replicaId)
      this.#output.note(this.#describe(`has another run, on ${message.machineId}; its output from the beginning:`));
    if (message.unreadable && !this.#isUnreadable)
      this.#output.note(
        this.#describe(
          `runs on ${message.machineId}, which sends output only when the task has ended; waiting for that`,
        ),
      );
  }

  #describe(what: string): string {
    return `task ${this.#followed.taskIndex} of job ${this.#followed.jobId} ${what}`;
  }

  #print(stream: 'output' | 'error', bytes: Uint8Array, skipped: number): void {
    if (this.#output.mode === 'json' || this.#isLeftOut(stream)) return;
    if (skipped > 0)
      this.#output.note(`[mutirao: ${skipped} bytes of standard ${stream} were not kept and are missing here]`);
    this.#write(stream, this.#streams[stream].take(bytes));
  }

  #isLeftOut(stream: 'output' | 'error'): boolean {
    return this.#followed.streams !== 'both' && this.#followed.streams !== stream;
  }

  #write(stream: 'output' | 'error', bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#output.writePrinted(bytes, this.#followed.streams === 'error' ? 'output' : stream);
  }
}
