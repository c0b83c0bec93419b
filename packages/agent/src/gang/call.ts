import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { describeError } from '@mutirao/core/shared';
import type { Connection } from './connection.ts';
import { commandBytesMax, frameBytesMax, inputWindow, type Frame, type OutputStream } from './frames.ts';

/** What a call of `$RSH_CMD` asks for. */
export interface CallSpec {
  readonly name: string;
  readonly command: Buffer;
}

/** What a call needs. */
export interface CallOptions {
  /** Path of the call's files, without their suffixes. */
  readonly files: string;
  /** Connects to the member of this name. @throws {MutiraoError} when there is none, or it is out of reach. */
  dial(name: string): Promise<Connection>;
  /** Called once. */
  onOver(): void;
}

const endings = ['in', 'out', 'err', 'live', 'end', 'command'] as const;

/** One call of `$RSH_CMD`, on rank 0's side: its FIFOs at one end, a connection at the other. */
export class Call {
  private readonly options: CallOptions;
  private readonly live: Socket;
  private readonly input: Socket;
  private readonly outputs: Readonly<Record<OutputStream, Socket>>;
  private readonly end: number;
  private connection: Connection | undefined;
  private name = '';
  private aheadBytes = 0;
  private isOver = false;
  private readonly closedOutputs = new Set<OutputStream>();
  private signals = '';

  /**
   * Takes hold of the files, which are then removed. @throws Error of the file system when the caller is gone already.
   */
  private constructor(options: CallOptions) {
    this.options = options;
    const opened: number[] = [];
    const open = (ending: (typeof endings)[number], flags: number): number => {
      const file = openSync(`${options.files}.${ending}`, flags | constants.O_NONBLOCK);
      opened.push(file);
      return file;
    };
    try {
      const [live, input] = [open('live', constants.O_RDONLY), open('in', constants.O_RDONLY)];
      const [out, err] = [open('out', constants.O_WRONLY), open('err', constants.O_WRONLY)];
      this.end = open('end', constants.O_WRONLY);
      this.live = new Socket({ fd: live, readable: true, writable: false });
      this.input = new Socket({ fd: input, readable: true, writable: false });
      this.outputs = {
        standardOutput: new Socket({ fd: out, readable: false, writable: true }),
        standardError: new Socket({ fd: err, readable: false, writable: true }),
      };
    } catch (error) {
      for (const file of opened) closeSync(file);
      throw error;
    }
  }

  /** Takes up a call whose files are there. @returns undefined when its caller is gone. */
  static take(options: CallOptions): Call | undefined {
    try {
      const spec = readSpec(`${options.files}.command`);
      const call = new Call(options);
      call.watchCaller();
      void call.connect(spec);
      return call;
    } catch (error) {
      refuse(options.files, describe(error));
      return undefined;
    } finally {
      for (const ending of endings) rmSync(`${options.files}.${ending}`, { force: true });
    }
  }

  /** Ends it, and the command at the member with it. */
  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.connection?.close('the caller is gone');
    this.live.destroy();
    this.input.destroy();
    for (const socket of Object.values(this.outputs)) socket.destroy();
    closeSync(this.end);
    this.options.onOver();
  }

  private async connect({ name, command }: CallSpec): Promise<void> {
    this.name = name;
    try {
      const connection = await this.reach(name, command);
      if (this.isOver) {
        connection.close('the caller is gone');
        return;
      }
      this.connection = connection;
      connection.listen({
        onFrame: (frame) => {
          this.receive(frame);
        },
        onDrained: () => {
          this.goOnReading();
        },
        onClosed: (reason) => {
          this.lose(reason);
        },
      });
      connection.send({ kind: 'run', command });
      this.report('ok');
      for (const signal of this.signals.split('\n').filter(Boolean)) this.passSignal(signal);
      this.pumpInput();
      for (const stream of ['standardOutput', 'standardError'] as const) this.watchOutput(stream);
    } catch (error) {
      this.report(`no ${describe(error)}`);
    }
  }

  /** Nothing is reported before the caller of the constructor has the object. */
  private async reach(name: string, command: Buffer): Promise<Connection> {
    if (command.length > commandBytesMax)
      throw new Error(`the command has ${command.length} bytes; expected at most ${commandBytesMax}`);
    return this.options.dial(name);
  }

  /** The caller's end of `live` closes when it has ended, however it has. */
  private watchCaller(): void {
    this.live.on('data', (chunk: Buffer) => {
      if (this.connection === undefined) this.signals += chunk.toString();
      else for (const signal of chunk.toString().split('\n').filter(Boolean)) this.passSignal(signal);
    });
    this.live.on('error', () => undefined);
    this.live.on('close', () => {
      this.close();
    });
  }

  private passSignal(text: string): void {
    this.connection?.send({ kind: 'signal', number: Number(text) & 0xff });
  }

  private pumpInput(): void {
    this.input.on('data', (chunk: Buffer) => {
      this.aheadBytes += chunk.length;
      for (let at = 0; at < chunk.length; at += frameBytesMax)
        this.connection?.send({ kind: 'input', bytes: chunk.subarray(at, at + frameBytesMax) });
      if (this.aheadBytes >= inputWindow) this.input.pause();
    });
    this.input.on('error', () => undefined);
    this.input.on('close', () => {
      if (!this.isOver) this.connection?.send({ kind: 'inputEnd' });
    });
  }

  private watchOutput(stream: OutputStream): void {
    const socket = this.outputs[stream];
    socket.on('drain', () => {
      this.goOnReading();
    });
    socket.on('error', () => {
      this.closedOutputs.add(stream);
      this.connection?.send({ kind: 'outputClosed', stream });
      this.goOnReading();
    });
  }

  private receive(frame: Frame): void {
    switch (frame.kind) {
      case 'output':
        return this.write(frame.stream, frame.bytes);
      case 'inputTaken':
        return this.noteTaken(frame.bytes);
      case 'refused':
        return this.write('standardError', Buffer.from(`gang: ${this.name}: ${frame.reason}\n`));
      case 'exit':
        return this.finish(frame.status);
      default:
        throw new Error(`frame ${frame.kind} from a member`);
    }
  }

  private write(stream: OutputStream, bytes: Buffer): void {
    if (this.closedOutputs.has(stream)) return;
    // The caller takes less than comes: the member must wait.
    if (!this.outputs[stream].write(bytes)) this.connection?.pause();
  }

  private goOnReading(): void {
    const isFull = Object.entries(this.outputs).some(
      ([stream, socket]) => socket.writableNeedDrain && !this.closedOutputs.has(stream as OutputStream),
    );
    if (!isFull) this.connection?.resume();
  }

  private noteTaken(bytes: number): void {
    this.aheadBytes -= bytes;
    if (this.aheadBytes < inputWindow) this.input.resume();
  }

  private lose(reason: string): void {
    if (this.isOver || this.connection === undefined) return;
    this.write('standardError', Buffer.from(`gang: ${this.name}: the connection is lost: ${reason}\n`));
    this.finish(255);
  }

  /**
   * The status is sent at once and read last: the streams are closed when everything is written, and the caller's
   * copies end only then.
   */
  private finish(status: number): void {
    const { connection } = this;
    if (connection === undefined) return;
    this.connection = undefined;
    connection.close('the command has ended');
    this.report(String(status));
    this.input.destroy();
    for (const socket of Object.values(this.outputs)) {
      const close = (): void => {
        socket.destroy();
      };
      socket.once('finish', close);
      socket.once('error', close);
      socket.end();
    }
  }

  private report(line: string): void {
    if (this.isOver) return;
    try {
      writeSync(this.end, `${line}\n`);
    } catch {
      this.close(); // Nobody is there to read it.
    }
  }
}

/** Sends the reason to a caller that is still waiting and could not be served. */
function refuse(files: string, reason: string): void {
  try {
    const end = openSync(`${files}.end`, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(end, `no ${reason}\n`);
    closeSync(end);
  } catch {
    /* It is gone, or nothing can be opened any more. */
  }
}

function describe(error: unknown): string {
  return describeError(error).replaceAll('\n', ' ');
}

/** The first line names the member, the rest is the command. */
function readSpec(file: string): CallSpec {
  const bytes = readFileSync(file);
  const end = bytes.indexOf('\n');
  return { name: bytes.subarray(0, end).toString(), command: bytes.subarray(end + 1) };
}
