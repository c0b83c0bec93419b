import { appendFileSync, readFileSync } from 'node:fs';
import { killGroup, killProcess } from '@mutirao/runtime/processes';
import type { ChaosGrid } from './chaos-grid.ts';
import { atFraction, describeFault, type Fault, type FaultPlan, type Victim } from './fault-plan.ts';
import { findProcesses, type GridProcess } from './find-processes.ts';
import type { Finding } from './verdict.ts';

/** The group that we are in, and so are the programs that we started. */
const ownGroup = Number(
  readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')[2],
);

/** What a storm is made of. */
export interface StormOptions {
  readonly grid: ChaosGrid;
  readonly plan: FaultPlan;
  readonly everyMs: number;
  /** Where each fault is written down, a line of JSON each. */
  readonly logFile: string;
}

/** Faults at a steady pace until it is ended. */
export class Storm {
  /** How often each kind of fault came, and each role was killed or paused. */
  readonly counts = new Map<string, number>();
  #strikeCount = 0;
  #hitCount = 0;
  readonly #options: StormOptions;
  readonly #paused = new Map<number, NodeJS.Timeout>();
  readonly #mends = new Set<NodeJS.Timeout>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StormOptions) {
    this.#options = options;
  }

  /** A storm that hit nobody proves nothing; now and then there is nobody of a kind to hit. */
  judge(): Finding {
    const isEnough = this.#hitCount * 2 > this.#strikeCount;
    return {
      what: 'most faults hit somebody',
      wrong: isEnough ? [] : [`${this.#hitCount} of ${this.#strikeCount} did`],
    };
  }

  begin(): void {
    this.#timer = setInterval(() => {
      this.#strike(this.#options.plan.next());
    }, this.#options.everyMs);
  }

  /** No further faults; everything is mended and awake when it resolves. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    for (const timer of this.#mends) clearTimeout(timer);
    for (const pid of [...this.#paused.keys()]) this.#wake(pid);
    for (const program of this.#options.grid.programs) program.holdOff(0);
    await this.#options.grid.heal();
  }

  #strike(fault: Fault): void {
    this.#count(fault.kind === 'wire' ? `wire ${fault.mode}` : fault.kind);
    const hit = this.#perform(fault);
    this.#strikeCount += 1;
    if (hit.some((victim) => victim !== '')) this.#hitCount += 1;
    appendFileSync(
      this.#options.logFile,
      `${JSON.stringify({ at: new Date().toISOString(), fault: describeFault(fault), hit })}\n`,
    );
  }

  /** Performs a fault and returns its targets, for people. */
  #perform(fault: Fault): string[] {
    const { grid } = this.#options;
    switch (fault.kind) {
      case 'kill':
        return this.#kill(this.#find(fault.victims));
      case 'killAll':
        return this.#kill(findProcesses(grid.home));
      case 'killRoles':
        return this.#kill(
          findProcesses(grid.home).filter(({ role }) => (fault.roles as readonly string[]).includes(role)),
        );
      case 'away':
        return this.#keepAway(fault.forMs);
      case 'pause':
        return this.#find(fault.victims).map((victim) => this.#pause(victim, fault.forMs));
      case 'wire': {
        const wire = atFraction(grid.wires, fault.at);
        wire?.fail(fault.mode);
        this.#later(fault.forMs, () => wire?.mend());
        return [wire?.name ?? ''];
      }
      case 'disk': {
        const disk = atFraction(grid.disks, fault.at);
        disk?.fill();
        // What is removed meanwhile makes no room.
        const again = setInterval(() => disk?.fill(), 200);
        this.#mends.add(again);
        this.#later(fault.forMs, () => {
          clearInterval(again);
          disk?.empty();
        });
        return [disk?.folder ?? ''];
      }
    }
  }

  #find(victims: readonly Victim[]): GridProcess[] {
    const all = findProcesses(this.#options.grid.home);
    return victims.flatMap(
      ({ role, at }) =>
        atFraction(
          all.filter((process) => process.role === role),
          at,
        ) ?? [],
    );
  }

  #kill(victims: readonly GridProcess[]): string[] {
    for (const { pid, pgid, role } of victims) {
      if (role === 'task' && pgid !== ownGroup) killGroup(pgid, 'SIGKILL');
      else killProcess(pid, 'SIGKILL');
    }
    return victims.map((victim) => this.#name(victim, 'killed'));
  }

  #keepAway(forMs: number): string[] {
    const program = this.#options.grid.programs.find(({ name }) => name === 'broker');
    program?.holdOff(forMs);
    return this.#kill(findProcesses(this.#options.grid.home).filter(({ role }) => role === 'broker'));
  }

  #pause(victim: GridProcess, forMs: number): string {
    const { pid } = victim;
    try {
      process.kill(pid, 'SIGSTOP');
    } catch {
      return `${pid} is gone`;
    }
    clearTimeout(this.#paused.get(pid));
    this.#paused.set(
      pid,
      setTimeout(() => {
        this.#wake(pid);
      }, forMs),
    );
    return this.#name(victim, 'paused');
  }

  #wake(pid: number): void {
    clearTimeout(this.#paused.get(pid));
    this.#paused.delete(pid);
    killProcess(pid, 'SIGCONT');
  }

  #later(forMs: number, act: () => unknown): void {
    const timer = setTimeout(() => {
      this.#mends.delete(timer);
      void act();
    }, forMs);
    this.#mends.add(timer);
  }

  #name({ role, pid, command }: GridProcess, what: string): string {
    this.#count(`${role} ${what}`);
    return `${role} ${pid} ${/--(?:id|machine-id) (\S+)/.exec(command)?.[1] ?? ''}`.trim();
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
