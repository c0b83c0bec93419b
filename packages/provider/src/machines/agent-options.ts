import type { EnrolledMachine } from '@mutirao/core/messages';
import type { ProviderId } from '@mutirao/core/shared';

/** The options of the agent of a kept machine that follow from the machine alone. */
export function agentOptions(providerId: ProviderId, machine: EnrolledMachine): string[] {
  const { name, processors, attributes, memory, gpus, resources = [] } = machine;
  const options = ['--provider-id', providerId, '--machine-id', `${providerId}/${name}`];
  if (processors > 0) options.push('--processors', String(processors));
  for (const [attribute, value] of Object.entries(attributes)) options.push('--attribute', `${attribute}=${value}`);
  if (memory !== undefined) options.push('--memory', String(memory));
  if (gpus !== undefined) options.push('--gpus', gpus);
  for (const resource of resources) options.push('--resource', resource);
  return options;
}

/** The error that an agent's log ends with, as far as it has one; else its last line. */
export function getLastWords(log: string): string {
  const lines = log
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  for (const line of lines.toReversed()) {
    const { level, code, msg } = readLine(line);
    if (level === 'fatal' && typeof msg === 'string')
      return `${typeof code === 'string' ? `${code} ` : ''}${msg}`.slice(0, 500);
  }
  return (lines.at(-1) ?? 'it printed nothing').slice(0, 500);
}

function readLine(line: string): { readonly level?: unknown; readonly code?: unknown; readonly msg?: unknown } {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}
