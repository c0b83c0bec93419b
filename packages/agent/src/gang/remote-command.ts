import type { Readable } from 'node:stream';
import type { PipedProcess, StartPipedOptions } from '@mutirao/runtime/processes';
import type { Duration } from '@mutirao/core/shared';
import type { Connection } from './connection.ts';
import { frameBytesMax, type Frame, type OutputStream } from './frames.ts';

/** What a command at a member needs. */
export interface RemoteCommandOptions {
  /** On which `run` has come; nobody else's from now on. */
  readonly connection: Connection;
  /** Starts the command's process, in the member's folder, as part of its task. */
  start(command: string, onClosed: StartPipedOptions['onClosed']): PipedProcess;
  /** Between asking a command to end and killing it, when its caller is gone. */
  readonly killGrace: Duration;
  /** Bytes of either stream that were written. */
  onOutput(bytes: number): void;
  /** The command has ended, or there was none. Called once. */
  onOver(): void;
}

/** One command at a member: its process, and the caller at the other end of a connection. */
export class RemoteCommand {
  private readonly options: RemoteCommandOptions;
  private readonly process: PipedProcess;
  private isOver = false;
  private killTimer: NodeJS.Timeout | undefined;

  /** Starts it. */
  constructor(options: RemoteCommandOptions, command: string) {
    this.options = options;
    const { connection } = options;
    this.process = options.start(command, ({ status, startError }) => {
      if (startError !== '') connection.send({ kind: 'refused', reason: startError });
      this.finish(status);
    });
    this.pump(this.process.standardOutput, 'standardOutput');
    this.pump(this.process.standardError, 'standardError');
    connection.listen({
      onFrame: (frame) => {
        this.receive(frame);
      },
      onDrained: () => {
        this.process.standardOutput.resume();
        this.process.standardError.resume();
      },
      onClosed: () => {
        this.abandon();
      },
    });
  }

  /** Signals all of its processes that have not left its group. */
  signal(signal: NodeJS.Signals): void {
    if (!this.isOver) this.process.signal(signal);
  }

  /** Takes what its caller sends. @throws Error for what no caller sends to a command that runs. */
  receive(frame: Frame): void {
    switch (frame.kind) {
      case 'input':
        return this.feed(frame.bytes);
      case 'inputEnd':
        this.process.standardInput.end();
        return;
      case 'signal':
        return this.pass(frame.number);
      case 'outputClosed':
        this.process[frame.stream].destroy();
        return;
      default:
        throw new Error(`frame ${frame.kind} for a command that runs`);
    }
  }

  /** Never waits: what the command has not taken yet is bounded by the window that its caller keeps to. */
  private feed(bytes: Buffer): void {
    const taken = (): void => {
      this.options.connection.send({ kind: 'inputTaken', bytes: bytes.length });
    };
    const { standardInput } = this.process;
    // Input for a command that has stopped reading counts as taken, so that its caller goes on.
    if (standardInput.destroyed || standardInput.writableEnded) taken();
    else standardInput.write(bytes, taken);
  }

  private pass(number: number): void {
    const name = passed.get(number);
    if (name !== undefined) this.signal(name);
  }

  private pump(stream: Readable, name: OutputStream): void {
    const { connection, onOutput } = this.options;
    stream.on('data', (chunk: Buffer) => {
      onOutput(chunk.length);
      for (let at = 0; at < chunk.length; at += frameBytesMax) {
        if (!connection.send({ kind: 'output', stream: name, bytes: chunk.subarray(at, at + frameBytesMax) }))
          stream.pause();
      }
    });
  }

  /** Its caller is gone. */
  private abandon(): void {
    if (this.isOver) return;
    this.signal('SIGTERM');
    // Nobody reads its output, and it must not wait for that.
    this.process.standardOutput.resume();
    this.process.standardError.resume();
    this.killTimer = setTimeout(() => {
      this.signal('SIGKILL');
      // What has left the group may hold these for ever.
      this.process.standardOutput.destroy();
      this.process.standardError.destroy();
    }, this.options.killGrace);
  }

  private finish(status: number): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.killTimer);
    const { connection, onOver } = this.options;
    connection.send({ kind: 'exit', status: status & 0xff });
    // The other end closes it once it has all.
    connection.end();
    onOver();
  }
}

/** Signals that are passed on, by their numbers on Linux. */
const passed: ReadonlyMap<number, NodeJS.Signals> = new Map([
  [1, 'SIGHUP'],
  [2, 'SIGINT'],
  [3, 'SIGQUIT'],
  [9, 'SIGKILL'],
  [10, 'SIGUSR1'],
  [12, 'SIGUSR2'],
  [15, 'SIGTERM'],
]);
