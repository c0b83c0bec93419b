import { MutiraoError } from '@mutirao/api/errors';
import { FormatError, parseGpuDevices, parseNamedResource } from '@mutirao/formats';
import type { StatedCapacity, StatedGpus } from './decide-capacity.ts';

/** Reads what an owner states of GPUs and counted resources. @throws {MutiraoError} MUT_BAD_CONFIG */
export function readStated(gpus: string, resources: readonly string[]): Pick<StatedCapacity, 'gpus' | 'named'> {
  const named: Record<string, number> = {};
  for (const text of resources) {
    const { name, amount } = parseOption('--resource', text, parseNamedResource);
    if (Object.hasOwn(named, name))
      throw new MutiraoError('MUT_BAD_CONFIG', `--resource names ${name} twice; expected each resource once`);
    named[name] = amount;
  }
  return { gpus: gpus === '' ? undefined : readGpus(gpus), named };
}

function readGpus(text: string): StatedGpus {
  return { text, devices: parseOption('--gpus', text, parseGpuDevices), isNamed: text.includes(',') };
}

/** @throws {MutiraoError} MUT_BAD_CONFIG */
function parseOption<T>(option: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new MutiraoError('MUT_BAD_CONFIG', `${option}: ${error.message}`, { cause: error });
  }
}
