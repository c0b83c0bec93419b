import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

import type { TailTaskOutputResponse } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';

import type { TailMessage } from '../../schema/index.ts';
import { taskStatusName } from '../documents/tasks.ts';
import type { GatewayParts } from '../grid-calls.ts';
import { streamsMax } from '../limits.ts';

/** Whose output is wanted. */
export interface TailSubject {
  readonly jobId: number;
  readonly taskIndex: number;
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
export function readTailSubject({ id, task }: { readonly id: string; readonly task: string }): TailSubject {
  if (!/^[1-9]\d{0,14}$/.test(id) || !/^\d{1,9}$/.test(task))
    throw new MutiraoError('MUT_BAD_REQUEST', 'the path names no task of a job');
  return { jobId: Number(id), taskIndex: Number(task) };
}

/** Streams of what tasks print while they run: what a page does not take yet waits at the broker, not here. */
export class TailStreams {
  readonly #parts: Pick<GatewayParts, 'grid'>;
  #count = 0;

  constructor(parts: Pick<GatewayParts, 'grid'>) {
    this.#parts = parts;
  }

  /** @returns what begins to send. @throws {MutiraoError} MUT_WEB_STREAMS_MAX */
  admit(): (subject: TailSubject, sink: Writable) => Promise<void> {
    if (this.#count >= streamsMax)
      throw new MutiraoError('MUT_WEB_STREAMS_MAX', `${streamsMax} outputs are being followed; close a page`);
    this.#count += 1;
    return (subject, sink) =>
      this.#send(subject, sink).finally(() => {
        this.#count -= 1;
      });
  }

  async #send(subject: TailSubject, sink: Writable): Promise<void> {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    sink.on('close', leave).on('error', leave);
    const reader = new TailReader();
    try {
      const request = { ...subject, replicaId: 0, standardOutputOffset: 0, standardErrorOffset: 0 };
      for await (const message of this.#parts.grid.broker().tailTaskOutput(request, gone.signal)) {
        const isFull = !sink.write(`event: output\ndata: ${JSON.stringify(reader.read(message))}\n\n`);
        if (isFull) await once(sink, 'drain', { signal: gone.signal });
      }
      sink.write('event: end\ndata: {}\n\n');
    } catch (error) {
      if (gone.signal.aborted) return;
      const message = error instanceof MutiraoError ? error.message : 'the output cannot be read';
      sink.write(`event: problem\ndata: ${JSON.stringify({ message })}\n\n`);
    } finally {
      sink.end();
    }
  }
}

/** Makes text of bytes that may be cut within a character. */
class TailReader {
  #replicaId = 0;
  #out = new StringDecoder('utf8');
  #error = new StringDecoder('utf8');
  #outEnd = 0;
  #errorEnd = 0;

  read(message: TailTaskOutputResponse): TailMessage {
    const { replicaId, machineId, standardOutput: out, standardError: error } = message;
    if (replicaId !== this.#replicaId) this.#begin(replicaId);
    const isCut =
      (out.length > 0 && message.standardOutputOffset > this.#outEnd) ||
      (error.length > 0 && message.standardErrorOffset > this.#errorEnd);
    if (out.length > 0) this.#outEnd = message.standardOutputOffset + out.length;
    if (error.length > 0) this.#errorEnd = message.standardErrorOffset + error.length;
    return {
      status: taskStatusName(message.status),
      replica_id: replicaId,
      machine_id: machineId,
      standard_output: this.#out.write(Buffer.from(out)),
      standard_error: this.#error.write(Buffer.from(error)),
      is_cut: isCut,
      is_unreadable: message.unreadable,
    };
  }

  #begin(replicaId: number): void {
    this.#replicaId = replicaId;
    this.#out = new StringDecoder('utf8');
    this.#error = new StringDecoder('utf8');
    this.#outEnd = this.#errorEnd = 0;
  }
}
