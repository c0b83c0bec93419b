import { errorOfRefusal } from '@mutirao/api/errors';
import type { JobSpec } from '@mutirao/core/messages';
import { parseRequirements } from '@mutirao/core/requirements';

/** Reads every expression of a job once. @throws {MutiraoError} MUT_BAD_REQUEST naming the group and the character. */
export function checkRequirements(spec: JobSpec): void {
  const seen = new Set<string>();
  const check = (text: string, name: string): void => {
    if (seen.has(text)) return;
    const parsed = parseRequirements(text);
    if (parsed.kind === 'error') throw errorOfRefusal({ code: 'MUT_BAD_REQUEST', fault: parsed.fault }, `${name}: `);
    seen.add(text);
  };
  for (const [index, group] of spec.groups.entries()) {
    check(group.requirements, `job.groups[${index}]`);
    for (const input of group.inputs) check(input.condition, `job.groups[${index}], condition of input ${input.path}`);
    for (const output of group.outputs)
      check(output.condition, `job.groups[${index}], condition of output ${output.path}`);
  }
}
