import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import { childText, listElements, type XmlElement } from '../read-xml.ts';

/** Processors of one queue on one host. */
export interface QueueInstance {
  readonly queue: string;
  readonly host: string;
  readonly total: ProcessorCount;
  /** Neither used nor reserved, and to be had now. */
  readonly free: ProcessorCount;
  /** Jobs start there again sooner or later without an operator's hand. */
  readonly isUsable: boolean;
}

/** Reads what `qstat -f -xml` wrote; what makes no sense is returned as it is. */
export function parseInstances(root: XmlElement): readonly QueueInstance[] | string {
  const instances: QueueInstance[] = [];
  for (const element of listElements(root, 'Queue-List')) {
    const [queue = '', host = ''] = childText(element, 'name').split('@');
    const [used, reserved, total] = [
      countOf(element, 'slots_used'),
      countOf(element, 'slots_resv'),
      countOf(element, 'slots_total'),
    ];
    if (queue === '' || used === undefined || total === undefined)
      return element.children
        .map(({ name, text }) => `${name} ${text}`)
        .join(', ')
        .slice(0, 200);
    const state = childText(element, 'state');
    const isUsable = !/[uEdDsSCoc]/.test(state);
    const isOpen = isUsable && !/[aA]/.test(state);
    instances.push({ queue, host, total, isUsable, free: isOpen ? Math.max(0, total - used - (reserved ?? 0)) : 0 });
  }
  return instances;
}

function countOf(element: XmlElement, name: string): number | undefined {
  const text = childText(element, name);
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** A parallel environment: how a job gets several processors. */
export interface ParallelEnvironment {
  readonly name: string;
  /** Of all its jobs together. */
  readonly slots: ProcessorCount;
  /** How processors are laid out: on one host, as many as each has, or a fixed number on each. */
  readonly layout: 'any' | 'one host' | ProcessorCount;
  /** Whether a job may start processes on its other hosts. */
  readonly startsElsewhere: boolean;
}

/** Reads what `qconf -sp` wrote; undefined for something else. */
export function parseEnvironment(output: string): ParallelEnvironment | undefined {
  const values = getValues(output);
  const [name, slots, rule = ''] = [values.get('pe_name'), values.get('slots') ?? '', values.get('allocation_rule')];
  if (name === undefined || !/^\d{1,9}$/.test(slots)) return undefined;
  const layout = /^[1-9]\d*$/.test(rule) ? Number(rule) : rule === '$pe_slots' ? 'one host' : 'any';
  return { name, slots: Number(slots), layout, startsElsewhere: /^true$/i.test(values.get('control_slaves') ?? '') };
}

/** What is read of the settings of a queue. */
export interface ClusterQueue {
  readonly name: string;
  readonly environments: ReadonlySet<string>;
  /** Undefined where there is no limit. */
  readonly walltimeMax: Duration | undefined;
}

/**
 * Reads what `qconf -sq` wrote of one queue or of several. Of settings that differ between hosts the general one
 * counts, or for environments any.
 */
export function parseQueues(output: string): ClusterQueue[] {
  return joinLines(output)
    .split(/^(?=qname\s)/m)
    .map(getValues)
    .filter((values) => values.has('qname'))
    .map((values) => ({
      name: values.get('qname') ?? '',
      environments: new Set(
        (values.get('pe_list') ?? '').split(/[\s,[\]=]+/).filter((word) => word !== '' && word !== 'NONE'),
      ),
      walltimeMax: parseSpan((values.get('h_rt') ?? '').split(',')[0] ?? ''),
    }));
}

/** Reads `HH:MM:SS`, or seconds. Undefined for `INFINITY` and anything else. */
function parseSpan(text: string): Duration | undefined {
  const match = /^(?:(\d{1,7}):(\d{1,2}):)?(\d{1,10})$/.exec(text.trim());
  if (match === null) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part: string | undefined) => Number(part ?? 0));
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** The lines `name value` of settings. */
function getValues(output: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const line of joinLines(output).split('\n')) {
    const [, name, value = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name !== undefined) values.set(name, value.trim());
  }
  return values;
}

/** Lines that a backslash continues become one. */
function joinLines(output: string): string {
  return output.replaceAll(/\\\n\s*/g, ' ');
}

/** Names of a list of `qconf`, one a line. */
export function parseNames(output: string): string[] {
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^[\w.:-]+$/.test(line));
}
