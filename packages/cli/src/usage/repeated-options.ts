import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';

/** Gathers the values of an option that may be given several times. */
export function collect(value: string, former: readonly string[] = []): readonly string[] {
  return [...former, value];
}

/**
 * Has an option that is given twice refused, where its values are not gathered: the second would replace the first in
 * silence.
 *
 * A flag without a value may be repeated, since that changes nothing.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST while the command line is parsed.
 */
export function refuseRepeated(command: Command): void {
  for (const option of command.options) {
    if (option.variadic || option.parseArg === collect || !(option.required || option.optional)) continue;
    let former: string | undefined;
    command.on(`option:${option.name()}`, (value: string | null) => {
      const given = value ?? '';
      if (former !== undefined)
        throw new MutiraoError(
          'MUT_BAD_REQUEST',
          `${option.long ?? option.flags} is given twice, as "${former}" and "${given}"; expected it once`,
        );
      former = given;
    });
  }
}
