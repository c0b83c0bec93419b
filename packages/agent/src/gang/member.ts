import { describeError, type Duration } from '@mutirao/core/shared';
import type { PipedProcess, StartPipedOptions } from '@mutirao/runtime/processes';
import { ChannelListener, type ChannelKey } from './channel.ts';
import type { Connection, Patience } from './connection.ts';
import { inputWindow, type Frame } from './frames.ts';
import { RemoteCommand } from './remote-command.ts';

/** What a member of a gang is made of. */
export interface MemberOptions {
  readonly key: ChannelKey;
  /** Addresses of this host to listen at. */
  readonly hosts: readonly string[];
  readonly killGrace: Duration;
  /** How long the link to rank 0 may be missing, in milliseconds. */
  readonly linkPatience: Duration;
  readonly patience?: Patience;
  /** Most bytes that its commands may write to their streams together; 0 for no limit. */
  readonly outputMax: number;
  /** Starts a process in the member's folder, as part of its task. */
  start(command: string, onClosed: StartPipedOptions['onClosed']): PipedProcess;
  /** Its commands have written more than they may. Called once. */
  onOutputMax(writtenBytes: number): void;
  /** Rank 0 has been missing for longer than it may. Called once. */
  onLost(detail: string): void;
}

/** Commands that wait for the start of their gang. */
const earlyMax = 256;
/** What a caller may send to a command that waits: as much input as it sends without an answer, and some signals. */
const earlyBytesMax = inputWindow + 64;

/** A command that waits for the start of its gang. */
interface EarlyCommand {
  readonly connection: Connection;
  readonly command: string;
  /** What its caller has sent since: a caller without input sends the end of its input at once. */
  readonly frames: Frame[];
  bytes: number;
}

/**
 * One member of a gang, on its own machine: listens from when it is held, and runs commands from when its gang starts.
 */
export class Member {
  private readonly options: MemberOptions;
  private listener: ChannelListener | undefined;
  private readonly commands = new Set<RemoteCommand>();
  private early: EarlyCommand[] = [];
  private status: 'waiting' | 'started' | 'ending' | 'over' = 'waiting';
  private link: Connection | undefined;
  private linkTimer: NodeJS.Timeout | undefined;
  private onIdle: (() => void) | undefined;
  private writtenBytes = 0;

  private constructor(options: MemberOptions) {
    this.options = options;
  }

  /** Listens; runs nothing yet. @throws {MutiraoError} MUT_GANG_CHANNEL_FAILED */
  static async hold(options: MemberOptions): Promise<Member> {
    const member = new Member(options);
    member.listener = await ChannelListener.start(
      options.hosts,
      options.key,
      (connection) => {
        member.accept(connection);
      },
      options.patience,
    );
    return member;
  }

  /** Where it listens. */
  get addresses(): readonly string[] {
    return this.listener?.addresses ?? [];
  }

  /** All members are held: runs what comes from now on, and what came before. Rank 0 has no link to itself. */
  begin(): void {
    if (this.status !== 'waiting') return;
    this.status = 'started';
    if (this.options.key.rank > 0 && this.link === undefined) this.missLink('rank 0 has not come');
    const { early } = this;
    this.early = [];
    for (const { connection, command, frames } of early) this.run(connection, command, frames);
  }

  /** Signals all commands, and takes no others. @param onIdle called once none is left; at once where there is none. */
  signal(signal: NodeJS.Signals, onIdle?: () => void): void {
    if (this.status === 'over') return;
    this.status = 'ending';
    this.onIdle = onIdle ?? this.onIdle;
    for (const command of this.commands) command.signal(signal);
    this.reportIdle();
  }

  /** Ends all that is left of it. */
  close(): void {
    if (this.status === 'over') return;
    this.status = 'over';
    clearTimeout(this.linkTimer);
    for (const command of this.commands) command.signal('SIGKILL');
    this.listener?.close();
  }

  private accept(connection: Connection): void {
    connection.listen({
      onFrame: (frame) => {
        const waiting = this.early.find((one) => one.connection === connection);
        if (waiting !== undefined) keepEarly(waiting, frame);
        else if (frame.kind === 'link') this.takeLink(connection);
        else if (frame.kind !== 'run') throw new Error(`frame ${frame.kind} comes first; expected run or link`);
        else if (this.status === 'started') this.run(connection, frame.command.toString());
        else if (this.status === 'waiting' && this.early.length < earlyMax)
          this.early.push({ connection, command: frame.command.toString(), frames: [], bytes: 0 });
        else
          refuse(
            connection,
            this.status === 'waiting'
              ? 'too many commands wait for the gang to start'
              : 'this member of the gang has ended',
          );
      },
      onDrained: () => undefined,
      onClosed: () => {
        this.early = this.early.filter((one) => one.connection !== connection);
      },
    });
  }

  private run(connection: Connection, command: string, frames: readonly Frame[] = []): void {
    try {
      const running = this.startCommand(connection, command);
      this.commands.add(running);
      for (const frame of frames) running.receive(frame);
    } catch (error) {
      refuse(connection, describeError(error));
    }
  }

  /** @throws Error where the system starts nothing more, or the line cannot be an argument. */
  private startCommand(connection: Connection, command: string): RemoteCommand {
    const { killGrace } = this.options;
    const running: RemoteCommand = new RemoteCommand(
      {
        connection,
        killGrace,
        start: (line, onClosed) => this.options.start(line, onClosed),
        onOutput: (bytes) => {
          this.count(bytes);
        },
        onOver: () => {
          this.commands.delete(running);
          this.reportIdle();
        },
      },
      command,
    );
    return running;
  }

  private count(bytes: number): void {
    const { outputMax } = this.options;
    const before = this.writtenBytes;
    this.writtenBytes += bytes;
    if (outputMax > 0 && before <= outputMax && this.writtenBytes > outputMax)
      this.options.onOutputMax(this.writtenBytes);
  }

  private reportIdle(): void {
    if (this.commands.size > 0 || this.onIdle === undefined) return;
    const { onIdle } = this;
    this.onIdle = undefined;
    onIdle();
  }

  private takeLink(connection: Connection): void {
    const former = this.link;
    this.link = connection;
    former?.close('rank 0 has come back');
    clearTimeout(this.linkTimer);
    connection.listen({
      onFrame: (frame) => {
        throw new Error(`frame ${frame.kind} on the link of rank 0`);
      },
      onDrained: () => undefined,
      onClosed: (reason) => {
        if (this.link !== connection) return;
        this.link = undefined;
        if (this.status === 'started') this.missLink(`the link to rank 0 is lost: ${reason}`);
      },
    });
    connection.send({ kind: 'ready' });
  }

  private missLink(detail: string): void {
    const { linkPatience, onLost } = this.options;
    clearTimeout(this.linkTimer);
    this.linkTimer = setTimeout(() => {
      onLost(`${detail}; it is not back after ${linkPatience} ms`);
    }, linkPatience);
  }
}

/** @throws Error for more than an honest caller sends without an answer. */
function keepEarly(waiting: EarlyCommand, frame: Frame): void {
  waiting.bytes += frame.kind === 'input' ? frame.bytes.length : 1;
  if (waiting.bytes > earlyBytesMax) throw new Error('too much comes for a command that waits for its gang to start');
  waiting.frames.push(frame);
}

function refuse(connection: Connection, reason: string): void {
  connection.send({ kind: 'refused', reason });
  connection.send({ kind: 'exit', status: 255 });
  connection.end();
}
