import type { MachineFacts, ReplicaEnd, TaskGroup } from '@mutirao/core/messages';
import { parseGpuDevices, parseNamedResource, parseResources, parseSize } from '@mutirao/formats';

type Options = Readonly<Record<string, string>>;

/**
 * What tasks ask for by the options `memory=16G gpus=0.5 named=licence:2+scratch:10G`, or of each group by
 * `asks=16G/1/licence:2,8G`.
 */
export function readRequest({ memory, gpus, named }: Options): Pick<TaskGroup, 'resources'> {
  const resources = parseResources({ memory, gpus, named: listNamed(named) });
  return resources === undefined ? {} : { resources };
}

/** The same of one group. */
export function requestOfGroup({ asks = '' }: Options, index: number): Pick<TaskGroup, 'resources'> {
  const [memory, gpus, named] = (asks.split(',')[index] ?? '').split('/');
  return readRequest({
    ...(memory === undefined || memory === '' ? {} : { memory }),
    ...(gpus === undefined || gpus === '' ? {} : { gpus }),
    ...(named === undefined ? {} : { named }),
  });
}

/** What a machine has by the same options, its GPUs as in `gpus=2:a100`. */
export function readCapacity({ memory, gpus, named }: Options): Pick<MachineFacts, 'capacity'> {
  if (memory === undefined && gpus === undefined && named === undefined) return {};
  return {
    capacity: {
      memory: memory === undefined ? 0 : parseSize(memory),
      gpus: gpus === undefined ? [] : parseGpuDevices(gpus),
      named: Object.fromEntries(
        listNamed(named)
          .map(parseNamedResource)
          .map(({ name, amount }) => [name, amount]),
      ),
    },
  };
}

/** What replicas used that ended, by the option `used=2G`. */
export function readUsage({ used }: Options): Pick<ReplicaEnd, 'usage'> {
  return used === undefined ? {} : { usage: { memoryPeak: parseSize(used), processorTime: 1 } };
}

function listNamed(named = ''): string[] {
  return named === '' ? [] : named.split('+').map((one) => one.replace(':', '='));
}

/** What tasks can do with instead by `or=4+8G@20,8@50`: processors, memory and time; and the time of the first, `time=9`. */
export function readAlternatives({ or, time }: Options): Pick<TaskGroup, 'alternatives' | 'expectedTime'> {
  const alternatives = or?.split(',').map((text) => {
    const [, processors, memory, after] = /^(\d+)(?:\+(\w+))?(?:@(\d+))?$/.exec(text) ?? [];
    return {
      processors: Number(processors),
      ...(memory === undefined ? {} : readRequest({ memory })),
      ...(after === undefined ? {} : { expectedTime: Number(after) }),
    };
  });
  return {
    ...(alternatives === undefined ? {} : { alternatives }),
    ...(time === undefined ? {} : { expectedTime: Number(time) }),
  };
}
