import { type Bytes, invariant } from '../shared/index.ts';
import { emptyCapacity, type ResourceCapacity } from './capacity.ts';
import { type GpuShare, type ResourceRequest, wholeDevice } from './request.ts';

/** A device, or a part of it, that a task holds. */
export interface DeviceShare {
  /** Position in the capacity's `gpus`. */
  readonly deviceIndex: number;
  readonly share: GpuShare;
}

/** What a task holds of a machine in addition to processors. */
export interface Assignment {
  readonly memory: Bytes;
  readonly devices: readonly DeviceShare[];
  readonly named: Readonly<Record<string, number>>;
}

/** The resource of which a machine has too little for a request. */
export interface Shortage {
  readonly kind: 'memory' | 'gpus' | 'named';
  /** Of a named resource, or the kind of the GPUs; empty otherwise. */
  readonly name: string;
  /** In bytes, thousandths of a GPU, or the unit of the named resource. */
  readonly needed: number;
  /** What one task could get now; of a fraction of a GPU the largest rest of a device. */
  readonly free: number;
  /** What one task could get if nothing were in use. */
  readonly total: number;
}

/**
 * What is free on a machine: tasks take from it and give back.
 *
 * Never more is taken than there is, of no resource and of no single device. The same calls give the same devices.
 */
export class FreeResources {
  readonly capacity: ResourceCapacity;
  #memory: Bytes;
  /** Free shares, by the position of the device. */
  readonly #devices: GpuShare[];
  readonly #named: Map<string, number>;
  #isUnknown = false;
  /** The account while nothing is in use, once it was asked for. */
  #whole: FreeResources | undefined;

  constructor(capacity: ResourceCapacity = emptyCapacity) {
    this.capacity = capacity;
    this.#memory = capacity.memory;
    this.#devices = capacity.gpus.map(() => wholeDevice);
    this.#named = new Map(Object.entries(capacity.named));
  }

  /** An account of its own with the same amounts free, for trying something out. */
  clone(): FreeResources {
    const copy = new FreeResources(this.capacity);
    copy.#isUnknown = this.#isUnknown;
    copy.#memory = this.#memory;
    for (const [index, share] of this.#devices.entries()) copy.#devices[index] = share;
    for (const [name, amount] of this.#named) copy.#named.set(name, amount);
    return copy;
  }

  get memory(): Bytes {
    return this.#memory;
  }

  /** Free shares of the devices, in the order of the capacity. */
  get devices(): readonly GpuShare[] {
    return this.#devices;
  }

  /** How much of a named resource is free; 0 of one that the machine does not have. */
  amountOf(name: string): number {
    return this.#named.get(name) ?? 0;
  }

  /** Whether one more task with this request fits. */
  fits(request: ResourceRequest): boolean {
    return this.countFitting(request) >= 1;
  }

  /** An account without known limits: every request fits. */
  static unknown(): FreeResources {
    const account = new FreeResources();
    account.#isUnknown = true;
    return account;
  }

  /** How many more tasks with this request fit; Infinity where it asks for nothing. */
  countFitting(request: ResourceRequest): number {
    const { memory, gpus, named } = request;
    if (this.#isUnknown) return Infinity;
    let count = memory > 0 ? Math.floor(this.#memory / memory) : Infinity;
    if (count > 0 && gpus > 0) count = Math.min(count, this.#countOnDevices(request));
    for (const name of Object.keys(named)) {
      if (count === 0) break;
      count = Math.min(count, Math.floor(this.amountOf(name) / (named[name] as number)));
    }
    return count;
  }

  /** How many tasks with this request fit while nothing is in use. */
  countFittingAtAll(request: ResourceRequest): number {
    this.#whole ??= new FreeResources(this.capacity);
    return this.#whole.countFitting(request);
  }

  /**
   * Takes a task's request; undefined, and nothing is taken, if it does not fit. A fraction comes from the device with
   * the smallest rest that is large enough, so that whole devices stay free.
   */
  take(request: ResourceRequest): Assignment | undefined {
    if (this.#isUnknown) return { memory: 0, devices: [], named: {} };
    return this.fits(request) ? this.#takeWith(request, this.#chooseDevices(request)) : undefined;
  }

  /**
   * Takes the requested amount of each resource, or what is left of it, to keep it for a task until it fits. Of devices
   * in use it takes the rest of those with most left, so that these become free eventually.
   */
  takeUpTo(request: ResourceRequest): Assignment {
    return this.#takeWith(request, this.fits(request) ? this.#chooseDevices(request) : this.#emptiestDevices(request));
  }

  #takeWith(request: ResourceRequest, devices: readonly DeviceShare[]): Assignment {
    const memory = Math.min(request.memory, this.#memory);
    const named: Record<string, number> = {};
    this.#memory -= memory;
    for (const { deviceIndex, share } of devices) this.#addToDevice(deviceIndex, -share);
    for (const [name, wanted] of Object.entries(request.named)) {
      const free = this.amountOf(name);
      const taken = Math.min(wanted, free);
      if (taken === 0) continue;
      named[name] = taken;
      this.#named.set(name, free - taken);
    }
    return { memory, devices, named };
  }

  /** Gives back what was taken here and not given back since. */
  release({ memory, devices, named }: Assignment): void {
    this.#memory += memory;
    for (const { deviceIndex, share } of devices) this.#addToDevice(deviceIndex, share);
    for (const [name, amount] of Object.entries(named)) this.#named.set(name, this.amountOf(name) + amount);
  }

  /** Takes exactly this again, as when a state is restored. @returns false, and takes nothing, where it is not free. */
  takeAgain(assignment: Assignment): boolean {
    const { memory, devices, named } = assignment;
    if (memory > this.#memory) return false;
    if (!devices.every(({ deviceIndex, share }) => share <= (this.#devices[deviceIndex] ?? 0))) return false;
    if (!Object.entries(named).every(([name, amount]) => amount <= this.amountOf(name))) return false;
    this.#memory -= memory;
    for (const { deviceIndex, share } of devices) this.#addToDevice(deviceIndex, -share);
    for (const [name, amount] of Object.entries(named)) this.#named.set(name, this.amountOf(name) - amount);
    return true;
  }

  /** The first resource with too little free for one more task; undefined if it fits. */
  findShortage(request: ResourceRequest): Shortage | undefined {
    const { memory, gpus, gpuKind = '', named } = request;
    const { capacity } = this;
    if (memory > this.#memory)
      return { kind: 'memory', name: '', needed: memory, free: this.#memory, total: capacity.memory };
    if (gpus > 0 && this.#countOnDevices(request) === 0) {
      return {
        kind: 'gpus',
        name: gpuKind,
        needed: gpus,
        free: this.#largestShare(request),
        total: new FreeResources(capacity).#largestShare(request),
      };
    }
    for (const [name, needed] of Object.entries(named)) {
      const free = this.amountOf(name);
      if (needed > free) return { kind: 'named', name, needed, free, total: totalOf(capacity, name) };
    }
    return undefined;
  }

  /** Whether of two accounts of one machine the same is free. */
  isSameAs(other: FreeResources): boolean {
    return (
      this.#memory === other.#memory &&
      this.#devices.every((share, index) => share === other.#devices[index]) &&
      Object.keys(this.capacity.named).every((name) => this.amountOf(name) === other.amountOf(name))
    );
  }

  /** Checks that nothing is over-committed. @throws {InvariantError} */
  check(name: string): void {
    const { capacity } = this;
    invariant(this.#memory >= 0 && this.#memory <= capacity.memory, `${name} has ${this.#memory} bytes of memory free`);
    for (const [index, share] of this.#devices.entries())
      invariant(share >= 0 && share <= wholeDevice, `${name} has ${share}/1000 of device ${index} free`);
    for (const [resource, amount] of this.#named)
      invariant(amount >= 0 && amount <= totalOf(capacity, resource), `${name} has ${amount} ${resource} free`);
  }

  #isOfKind(index: number, { gpuKind }: ResourceRequest): boolean {
    return gpuKind === undefined || this.capacity.gpus[index]?.kind === gpuKind;
  }

  #countOnDevices(request: ResourceRequest): number {
    const { gpus } = request;
    const each = Math.min(gpus, wholeDevice);
    let count = 0;
    for (let index = 0; index < this.#devices.length; index++)
      if (this.#isOfKind(index, request)) count += Math.floor((this.#devices[index] as GpuShare) / each);
    return Math.floor(count / (gpus / each));
  }

  /** The most of the request that one task could get. */
  #largestShare(request: ResourceRequest): GpuShare {
    let [largest, whole] = [0, 0];
    for (const [index, share] of this.#devices.entries()) {
      if (!this.#isOfKind(index, request)) continue;
      largest = Math.max(largest, share);
      if (share === wholeDevice) whole += wholeDevice;
    }
    return request.gpus < wholeDevice ? largest : whole;
  }

  #chooseDevices(request: ResourceRequest): DeviceShare[] {
    const { gpus } = request;
    if (gpus === 0) return [];
    if (gpus < wholeDevice) {
      const deviceIndex = this.#tightestDevice(request);
      return deviceIndex === undefined ? [] : [{ deviceIndex, share: gpus }];
    }
    const chosen: DeviceShare[] = [];
    for (let index = 0; index < this.#devices.length && chosen.length * wholeDevice < gpus; index++)
      if (this.#isOfKind(index, request) && this.#devices[index] === wholeDevice)
        chosen.push({ deviceIndex: index, share: wholeDevice });
    return chosen;
  }

  #tightestDevice(request: ResourceRequest): number | undefined {
    let tightest: number | undefined;
    for (const [index, share] of this.#devices.entries()) {
      if (share < request.gpus || !this.#isOfKind(index, request)) continue;
      if (tightest === undefined || share < (this.#devices[tightest] as GpuShare)) tightest = index;
    }
    return tightest;
  }

  #emptiestDevices(request: ResourceRequest): DeviceShare[] {
    const most = Math.ceil(request.gpus / wholeDevice);
    return this.#devices
      .map((share, deviceIndex) => ({ deviceIndex, share }))
      .filter(({ deviceIndex, share }) => share > 0 && this.#isOfKind(deviceIndex, request))
      .sort((one, other) => other.share - one.share)
      .slice(0, most)
      .map(({ deviceIndex, share }) => ({ deviceIndex, share: Math.min(share, request.gpus) }));
  }

  #addToDevice(index: number, share: GpuShare): void {
    this.#devices[index] = (this.#devices[index] ?? 0) + share;
  }
}

function totalOf({ named }: ResourceCapacity, name: string): number {
  return Object.hasOwn(named, name) ? (named[name] as number) : 0;
}
