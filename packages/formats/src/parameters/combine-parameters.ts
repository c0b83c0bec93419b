import { writeFields } from '@mutirao/core/bag';
import type { Values } from '@mutirao/core/messages';
import { countValues, getValue, listValues, parameterValuesMax, type Parameter } from './parse-parameter.ts';

/** Parameters of equal length whose values belong together, as the columns of a file do. Not empty. */
export type Axis = readonly Parameter[];

/** The tasks of a sweep, or a sentence that says why there are none. */
export type Combined = { readonly values: Values } | { readonly fault: string };

/**
 * Makes the values of the tasks: one for each combination of the axes, of which the first varies slowest.
 *
 * One parameter alone is the value of its task, and a range stays a range. Several are written as fields of the value.
 */
export function combineParameters(axes: readonly Axis[]): Combined {
  const uneven = axes.find(([first, ...others]) => others.some((other) => lengthOf([other]) !== lengthOf([first])));
  if (uneven !== undefined) {
    const lengths = uneven.map(({ name, values }) => `${name} has ${countValues(values)}`).join(', ');
    return {
      fault: `parameters that are taken together have different numbers of values: ${lengths}; expected equal ones`,
    };
  }
  const names = axes.flatMap((axis) => axis.map(({ name }) => name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return { fault: `the parameter "${twice}" is given twice; expected it once` };
  const [only] = axes.flat();
  if (names.length === 1 && only !== undefined) return { values: getOwnValues(only) };
  const count = axes.reduce((product, axis) => product * lengthOf(axis), 1);
  if (count === 0) return { fault: 'the parameters have no combination; expected a value for each' };
  if (count > parameterValuesMax) {
    const product = axes.map((axis) => String(lengthOf(axis))).join(' x ');
    return {
      fault:
        `the parameters make ${product} = ${count} tasks; expected at most ${parameterValuesMax}. Submit the sweep in ` +
        'parts, for example one job per value of the first parameter',
    };
  }
  return { values: { kind: 'list', values: listRows(axes, count) } };
}

function lengthOf([first]: readonly (Parameter | undefined)[]): number {
  return first === undefined ? 0 : countValues(first.values);
}

function getOwnValues({ values }: Parameter): Values {
  return 'count' in values ? { kind: 'range', ...values } : { kind: 'list', values: [...listValues(values)] };
}

function listRows(axes: readonly Axis[], count: number): string[] {
  const lengths = axes.map(lengthOf);
  return Array.from({ length: count }, (_, index) => {
    let rest = index;
    const positions = lengths.map(() => 0);
    for (let at = axes.length - 1; at >= 0; at--) {
      const length = lengths[at] ?? 1;
      positions[at] = rest % length;
      rest = Math.floor(rest / length);
    }
    return writeFields(
      axes.flatMap((axis, at) =>
        axis.map(({ name, values }): [string, string] => [name, getValue(values, positions[at] ?? 0)]),
      ),
    );
  });
}
