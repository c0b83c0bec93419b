import { realpathSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

import {
  chunkHeadroom,
  frameChunk,
  type ContentOffer,
  type ReaderProofs,
  type WantedContent,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { Content } from '@mutirao/core/messages';
import type { Bytes, MachineId } from '@mutirao/core/shared';
import { fsPath, noProofs, type HomeProver } from '@mutirao/runtime/files';

import { Semaphore } from '../concurrency/semaphore.ts';

/** Contents up to this many bytes travel in the message that offers them. */
export const inlineBytesMax = 65_536;

const chunkBytes = 256 * 1024;
/** Number of the data field in SendContentRequest. */
const dataField = 2;
/**
 * Chunks that one transfer goes round. A stream takes 16 messages at most before it asks to wait until all of them are
 * gone, so a chunk is never filled again before it has left.
 */
const chunksMax = 20;

/** The sending side of a transfer. */
export interface ContentSink {
  /**
   * Takes a message of the stream; resolves when there is room for more. @throws {MutiraoError} when the transfer is
   * over.
   */
  write(message: Buffer): Promise<void>;
  /** All was written; resolves when the other side has it. */
  finish(): Promise<void>;
  cancel(): void;
}

/** Where the bytes of a content are at home. */
export interface ContentSource {
  readonly path: string;
  /** Nobody writes that file any more. */
  readonly isLinkable: boolean;
}

/** What serving contents needs. */
export interface ContentServerOptions {
  /** Where the bytes of a content are at home; undefined when they are nowhere. */
  findSource(content: Content): Promise<ContentSource | undefined>;
  /** Whether a content was named to a machine; to the provider itself for an empty name. */
  isNamed(machineId: MachineId, sha256: string): boolean;
  /** Looks at the inputs of a machine's replicas again, so that their sources are known after a restart. */
  restage(machineId: MachineId): Promise<void>;
  /** Knows the proofs of those who read the files of home themselves. */
  readonly prover: Pick<HomeProver, 'isReader' | 'provePath'>;
  offer(machineId: MachineId, offer: ContentOffer): void;
  /** Opens the stream of a transfer. */
  send(transferId: string): ContentSink;
  /** A name that no other transfer has, and that others cannot guess. */
  nextTransferId(): string;
  /** Transfers at a time. */
  readonly concurrencyMax: number;
  onBytes(count: number): void;
  onTrouble(error: unknown): void;
}

/** Answers machines that lack contents: with the bytes, or with a transfer and then its stream. */
export class ContentServer {
  readonly #options: ContentServerOptions;
  readonly #places: Semaphore;

  constructor(options: ContentServerOptions) {
    this.#options = options;
    this.#places = new Semaphore(options.concurrencyMax);
  }

  /** Answers for each content; never rejects. */
  async serve(
    machineId: MachineId,
    contents: readonly WantedContent[],
    proofs: ReaderProofs = noProofs,
  ): Promise<void> {
    const reader = this.#options.prover.isReader(proofs) ? proofs : undefined;
    const unknown: WantedContent[] = [];
    for (const content of contents) {
      if (!(await this.#serveOne(machineId, content, reader))) unknown.push(content);
    }
    if (unknown.length === 0) return;
    await this.#options.restage(machineId).catch(this.#options.onTrouble);
    for (const content of unknown) {
      if (await this.#serveOne(machineId, content, reader)) continue;
      this.#options.offer(machineId, { content, source: { kind: 'refused', reason: 'MUT_CONTENT_NOT_FOUND' } });
    }
  }

  /** False when the content is nowhere. @param reader one that reads the files of home itself. */
  async #serveOne(
    machineId: MachineId,
    { sha256, size, offset = 0, overWire = false }: WantedContent,
    reader: ReaderProofs | undefined,
  ): Promise<boolean> {
    const { findSource, isNamed, offer, nextTransferId, onTrouble } = this.#options;
    const content = { sha256, size };
    // What was never named to it is as if it were nowhere.
    if (!isNamed(machineId, sha256)) return false;
    const source = await findSource(content);
    if (source === undefined) return false;
    const { path, isLinkable } = source;
    if (!overWire && reader !== undefined) {
      // The reader follows no link at the end of the path.
      const file = { content, path: withoutLinks(path), isLinkable };
      offer(machineId, {
        content,
        source: {
          kind: 'shared',
          path: file.path,
          isLinkable,
          proof: this.#options.prover.provePath(reader.challenge, file),
        },
      });
      return true;
    }
    if (content.size > inlineBytesMax) {
      const transferId = nextTransferId();
      offer(machineId, { content, source: { kind: 'transfer', transferId, ...(offset === 0 ? {} : { offset }) } });
      void this.#places.run(() => this.#send(transferId, path, { size, offset }), machineId).catch(onTrouble);
      return true;
    }
    const bytes = await readWhole(path, content.size).catch(onTrouble);
    if (bytes === undefined) return false;
    offer(machineId, { content, source: { kind: 'inline', bytes } });
    this.#options.onBytes(bytes.length);
    return true;
  }

  /** @param part what is sent: all from `offset` on. */
  async #send(transferId: string, path: string, part: { readonly size: Bytes; readonly offset: Bytes }): Promise<void> {
    const sink = this.#options.send(transferId);
    try {
      const file = await open(fsPath(path), 'r');
      try {
        const reader = new ChunkReader(file, part.offset);
        let size = part.offset;
        for (;;) {
          const { message, byteCount } = await reader.next();
          if (byteCount === 0) break;
          size += byteCount;
          await sink.write(message);
          this.#options.onBytes(byteCount);
        }
        if (size !== part.size)
          throw new MutiraoError('MUT_CONTENT_MISMATCH', `${path} has ${size} bytes now; expected ${part.size}`);
      } finally {
        await file.close();
      }
      await sink.finish();
    } catch (error) {
      sink.cancel();
      throw error;
    }
  }
}

function withoutLinks(path: string): string {
  try {
    return realpathSync.native(fsPath(path));
  } catch {
    return path; // The reader finds that out too.
  }
}

/** A message of a transfer. */
interface Chunk {
  readonly message: Buffer;
  /** Bytes of the file in it; 0 at the file's end. */
  readonly byteCount: number;
}

/**
 * Reads a file as messages, one ahead of the one that is sent. The same few buffers are filled again and again: new
 * ones for each message would keep the garbage collector busy.
 */
class ChunkReader {
  readonly #file: FileHandle;
  readonly #buffers: Buffer[] = [];
  #position: Bytes;
  #turn = 0;
  #ahead: Promise<Chunk>;

  /** @param position where to begin. */
  constructor(file: FileHandle, position: Bytes) {
    this.#file = file;
    this.#position = position;
    this.#ahead = this.#read();
  }

  async next(): Promise<Chunk> {
    const chunk = await this.#ahead;
    if (chunk.byteCount > 0) {
      this.#ahead = this.#read();
      // The next caller gets the failure; there may be none.
      this.#ahead.catch(() => undefined);
    }
    return chunk;
  }

  async #read(): Promise<Chunk> {
    this.#turn = (this.#turn + 1) % chunksMax;
    const buffer = (this.#buffers[this.#turn] ??= Buffer.allocUnsafeSlow(chunkHeadroom + chunkBytes));
    const { bytesRead } = await this.#file.read(buffer, chunkHeadroom, chunkBytes, this.#position);
    this.#position += bytesRead;
    return { message: frameChunk(buffer, bytesRead, dataField), byteCount: bytesRead };
  }
}

async function readWhole(path: string, size: number): Promise<Buffer> {
  const file = await open(fsPath(path), 'r');
  try {
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    if (bytesRead !== size)
      throw new MutiraoError('MUT_CONTENT_MISMATCH', `${path} has ${bytesRead} bytes now; expected ${size}`);
    return bytes;
  } finally {
    await file.close();
  }
}
