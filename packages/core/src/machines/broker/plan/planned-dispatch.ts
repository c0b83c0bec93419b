import { freeProcessors } from '../../../bag/index.ts';
import type { Duration, Instant, ProcessorCount, TaskIndex } from '../../../shared/index.ts';
import { findPlanned } from './planning.ts';
import { getBound, timeOn } from './planned-times.ts';
import type { ReadyOrder } from '../workflow/ready-order.ts';
import { foreseeStart, takePlanned } from './refresh-plan.ts';
import { getRoom } from '../jobs/serving-order.ts';
import { longestStay } from '../times/remaining-time.ts';
import type { BrokerMachine, GridPlan, PlannedTask, TaskQueue } from '../state.ts';
import { type Turn, wakeBy } from '../turn.ts';

/** The most tasks of one machine's plan that are checked beyond its processors, and ready tasks for an idle machine. */
const lookedAtMax = 64;

/** What following the plan needs to know and to do. */
export interface PlanPort {
  readonly order: ReadyOrder;
  /** Whether the queue's tasks may go to the machine now. */
  readonly matches: (queue: TaskQueue, machine: BrokerMachine) => boolean;
  /** Whether the task may, where its queue matches. */
  readonly suits: (queue: TaskQueue, task: TaskIndex, machine: BrokerMachine) => boolean;
  readonly dispatchTasks: (machine: BrokerMachine, queue: TaskQueue, tasks: readonly TaskIndex[]) => void;
}

/** What a machine has left while tasks are placed. */
interface Room {
  readonly machine: BrokerMachine;
  free: ProcessorCount;
  /** Of these, what is kept for tasks that the plan has next. */
  kept: ProcessorCount;
  /** When the first of those begins; a task that ends before may use the kept processors. */
  keptFrom: Instant;
}

/**
 * Gives each machine its next planned tasks. Processors are kept for a planned task that cannot begin yet, unless it is
 * late; tasks that end before it begins go first. The other processors take ready tasks that are not planned, and those
 * that would end there sooner than where they are planned.
 *
 * Cost: O(machines with a free processor x `lookedAtMax`), and O(ready log ready) if one of them has no planned task
 * and tasks are ready.
 *
 * @returns machines that are kept for their planned tasks.
 */
export function dispatchPlanned(
  turn: Turn,
  machines: readonly BrokerMachine[],
  queues: readonly TaskQueue[],
  port: PlanPort,
): Set<BrokerMachine> {
  const { plan } = turn.state.planning;
  const rooms = machines
    .filter((machine) => freeProcessors(machine) > 0)
    .map((machine): Room => ({ machine, free: freeProcessors(machine), kept: 0, keptFrom: Infinity }));
  const placing = new PlannedDispatch(turn, new Set(queues), port);
  if (plan !== undefined) for (const room of rooms) placing.followLane(plan, room);
  for (const room of rooms) if (room.free > 0) placing.fill(room);
  return new Set(rooms.filter(({ free, kept }) => free > 0 && kept >= free).map(({ machine }) => machine));
}

class PlannedDispatch {
  readonly #turn: Turn;
  readonly #queues: ReadonlySet<TaskQueue>;
  readonly #port: PlanPort;
  readonly #longestStays = new Map<TaskQueue, Duration>();

  constructor(turn: Turn, queues: ReadonlySet<TaskQueue>, port: PlanPort) {
    this.#turn = turn;
    this.#queues = queues;
    this.#port = port;
  }

  /** Places what the plan has on the machine next. */
  followLane(plan: GridPlan, room: Room): void {
    const lane = plan.lanes.get(room.machine);
    if (lane === undefined) return;
    let looked = 0;
    for (let at = 0; at < lane.length && room.free > 0 && looked < lookedAtMax; ) {
      const planned = lane[at] as PlannedTask;
      if (!this.#isOpen(planned)) {
        lane.splice(at, 1);
        continue;
      }
      looked++;
      at++;
      if (getRoom(planned.queue.job) === 0) continue;
      if (this.#mayBegin(planned, room) && this.#fits(room, planned)) this.#place(room, planned);
      else this.#keepFor(room, planned);
    }
  }

  /** Places what is ready and has no better place. */
  fill(room: Room): void {
    for (const queue of this.#queues) {
      if (room.free <= 0) return;
      if (queue.readyCount > 0 && this.#port.matches(queue, room.machine)) this.#fillFrom(queue, room);
    }
  }

  #fillFrom(queue: TaskQueue, room: Room): void {
    let looked = 0;
    for (const index of this.#port.order.getTasks(queue)) {
      if (room.free <= 0 || looked++ >= lookedAtMax || getRoom(queue.job) === 0) return;
      if (!this.#isBetterHere({ queue, index }, room)) continue;
      if (this.#fits(room, { queue, index })) this.#place(room, { queue, index });
      else if (queue.processors > room.free) {
        // A wide task that is first in line must not be starved by narrow ones behind it.
        if (findPlanned(this.#turn.state.planning, queue.job, index) === undefined) room.kept = room.free;
        room.keptFrom = Math.min(room.keptFrom, this.#turn.now);
        return;
      }
    }
  }

  /** Whether it is still to begin; what was placed otherwise, or was cancelled, is not. */
  #isOpen(planned: PlannedTask): boolean {
    const {
      queue: { job, ready },
      index,
    } = planned;
    if (findPlanned(this.#turn.state.planning, job, index) !== planned) return false;
    return ready.has(index) || job.dependencies?.waiting.has(index) === true;
  }

  #mayBegin({ queue, index }: PlannedTask, { machine }: Room): boolean {
    if (!queue.ready.has(index) || queue.heldBack.has(index) || !this.#queues.has(queue)) return false;
    return this.#port.matches(queue, machine) && this.#port.suits(queue, index, machine);
  }

  #fits({ machine, free, kept, keptFrom }: Room, { queue, index }: Pick<PlannedTask, 'queue' | 'index'>): boolean {
    if (queue.processors > free) return false;
    if (queue.processors <= free - kept) return true;
    const time = timeOn(this.#turn.state.planning, machine, { job: queue.job, index });
    return time !== undefined && this.#turn.now + time <= keptFrom;
  }

  /**
   * A late task keeps nothing, because a task that it waits for, or its own avoidance of machines, delays it; a wide
   * task that is ready keeps free processors.
   */
  #keepFor(room: Room, planned: PlannedTask): void {
    const { queue, start, end } = planned;
    const lapsesAt = start + getBound(end - start);
    if (!this.#mayBegin(planned, room)) {
      if (lapsesAt <= this.#turn.now) return;
      wakeBy(this.#turn, Math.ceil(lapsesAt));
    }
    room.kept = Math.min(room.free, room.kept + queue.processors);
    room.keptFrom = Math.min(room.keptFrom, start);
  }

  /** Whether a ready task is not planned, or would end later where it is. */
  #isBetterHere({ queue, index }: Pick<PlannedTask, 'queue' | 'index'>, { machine }: Room): boolean {
    const { planning } = this.#turn.state;
    if (!this.#port.suits(queue, index, machine)) return false;
    const planned = findPlanned(planning, queue.job, index);
    if (planned === undefined) return !this.#waitsForLonger({ queue, index }, machine);
    return planned.machine === machine || this.#endsSooner(planned, machine);
  }

  /**
   * Whether a task would outlast the machine, while one that stays long enough is there or may come. Asked again each
   * time, since what may come changes.
   */
  #waitsForLonger({ queue, index }: Pick<PlannedTask, 'queue' | 'index'>, machine: BrokerMachine): boolean {
    const { now, state } = this.#turn;
    const time = timeOn(state.planning, machine, { job: queue.job, index }) ?? 0;
    if (now + time <= (machine.facts.until ?? Infinity)) return false;
    let longest = this.#longestStays.get(queue);
    if (longest === undefined) this.#longestStays.set(queue, (longest = longestStay(state, queue)));
    return longest >= time;
  }

  /**
   * Whether a planned task that began on the machine now would end no later than at its planned place, however late
   * that may be. A task that is not in a plan may keep the better machine for ever: a task that has waited beyond its
   * planned beginning for as long as it takes here waits no longer.
   */
  #endsSooner({ queue: { job }, index, machine: other, start, end }: PlannedTask, machine: BrokerMachine): boolean {
    const {
      now,
      state: { planning },
    } = this.#turn;
    const [here, there] = [
      timeOn(planning, machine, { job, index }) ?? Infinity,
      timeOn(planning, other, { job, index }) ?? 0,
    ];
    if (now + here > (machine.facts.until ?? Infinity)) return false;
    if (now + here <= Math.max(end, now + there)) return true;
    if (![...other.replicas.values()].some((replica) => replica.job.scheduler !== 'plan')) return false;
    if (now >= start + here) return true;
    wakeBy(this.#turn, Math.ceil(start + here));
    return false;
  }

  #place(room: Room, { queue, index }: Pick<PlannedTask, 'queue' | 'index'>): void {
    const { state } = this.#turn;
    this.#port.dispatchTasks(room.machine, queue, [index]);
    takePlanned(state, queue.job, index);
    foreseeStart(this.#turn, room.machine, { job: queue.job, index });
    room.free -= queue.processors;
    room.kept = Math.min(room.kept, room.free);
  }
}
