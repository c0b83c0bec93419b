import { closeSync, constants, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { FifoLines, makeFifos, quoteWord } from '@mutirao/runtime/processes';
import { describeError } from '@mutirao/core/shared';
import { encodeCall, FrameReader, type CallFrame, type RunnerFrame } from './frames.ts';

/** Reads of one runner; a frame is much shorter. */
const readSize = 4096;

/** The two pipes to a runner: calls go in at its standard input, answers come from its descriptor 3. */
export class RunnerChannel {
  readonly #lines: FifoLines;
  readonly #answers: Socket;
  readonly #readRest: () => void;
  readonly #paths: readonly [string, string];
  #isOpen = true;

  /**
   * Opens both; the runner's shell opens its ends by `redirections`. @param name of files that are not there yet. @param
   * onFrame is not called after `close`. @param onFault what came is not a frame. @throws Error of the file system.
   */
  constructor(name: string, onFrame: (frame: RunnerFrame) => void, onFault: (fault: string) => void) {
    const [calls, answers] = (this.#paths = [`${name}-calls`, `${name}-answers`]);
    makeFifos([calls, answers]);
    // Both ways: opening waits for nobody, and the runner's end of file comes when we close it.
    this.#lines = new FifoLines(openSync(calls, constants.O_RDWR | constants.O_NONBLOCK));
    const fd = openSync(answers, constants.O_RDONLY | constants.O_NONBLOCK);
    const frames = new FrameReader();
    const buffer = Buffer.alloc(readSize);
    const read = (count: number): boolean => {
      try {
        for (const frame of frames.read(buffer.subarray(0, count))) if (this.#isOpen) onFrame(frame);
      } catch (error) {
        if (this.#isOpen) onFault(describeError(error));
      }
      return true;
    };
    this.#readRest = () => {
      for (let count = 1; count > 0 && this.#isOpen; ) {
        try {
          count = readSync(fd, buffer, 0, readSize, null);
        } catch {
          return; // EAGAIN: something that the runner started holds the pipe open.
        }
        read(count);
      }
    };
    try {
      this.#answers = new Socket({ fd, readable: true, writable: false, onread: { buffer, callback: read } });
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    this.#answers.on('error', () => undefined); // The end of the runner follows.
  }

  /** For the shell that starts the runner. */
  get redirections(): string {
    const [calls, answers] = this.#paths;
    return `<${quoteWord(calls)} 3>${quoteWord(answers)}`;
  }

  /** @throws Error of the file system. */
  send(call: CallFrame): void {
    this.#lines.write(encodeCall(call));
  }

  /** Takes what has come and was not read yet: its process may be known to have ended before its last frames are. */
  drain(): void {
    if (this.#isOpen) this.#readRest();
  }

  /** The runner reads its end of file. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#lines.close();
    this.#answers.destroy();
    for (const path of this.#paths) rmSync(path, { force: true });
  }
}
