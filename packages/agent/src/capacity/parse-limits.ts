import type { Bytes } from '@mutirao/core/shared';

/** Parses a list of numbers as the kernel writes it, such as `0-3,8`; undefined for anything else. */
export function parseIdList(text: string): number[] | undefined {
  const ids = new Set<number>();
  for (const part of text.trim().split(',')) {
    const [, from = '', to = from] = /^(\d+)(?:-(\d+))?$/.exec(part.trim()) ?? [];
    if (from === '' || Number(to) < Number(from) || Number(to) - Number(from) > idsMax) return undefined;
    for (let id = Number(from); id <= Number(to); id++) ids.add(id);
  }
  return [...ids].sort((a, b) => a - b);
}

const idsMax = 65_536;

/** The processors that a process may run on, from /proc/PID/status; undefined where it does not say. */
export function parseAllowedProcessors(status: string): number[] | undefined {
  const [, list] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status) ?? [];
  return list === undefined ? undefined : parseIdList(list);
}

/** Memory of the host, from /proc/meminfo; undefined where it does not say. */
export function parseMemoryTotal(meminfo: string): Bytes | undefined {
  const [, kibibytes] = /^MemTotal:\s+(\d+) kB$/m.exec(meminfo) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/** Processors that a quota of `cpu.max` allows, which may be a fraction; undefined for no limit. */
export function parseProcessorQuota(text: string): number | undefined {
  const [quota = '', period = '100000'] = text.trim().split(/\s+/);
  return divideQuota(quota, period);
}

/** As above, from the two files of the first version of control groups; -1 means unlimited. */
export function divideQuota(quota: string, period: string): number | undefined {
  const share = Number(quota) / Number(period);
  return /^\d+$/.test(quota.trim()) && Number.isFinite(share) && share > 0 ? share : undefined;
}

/** The limit of `memory.max` or `memory.limit_in_bytes`; undefined for no limit. */
export function parseMemoryLimit(text: string): Bytes | undefined {
  const bytes = Number(text.trim());
  // The first version writes the largest multiple of a page for no limit.
  return /^\d+$/.test(text.trim()) && bytes > 0 && bytes < noLimitMin ? bytes : undefined;
}

/** No host has as much memory. */
const noLimitMin = 2 ** 60;
