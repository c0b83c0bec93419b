export { combineParameters, type Axis, type Combined } from './combine-parameters.ts';
export { nameParameters, type NamedTemplate, type UnknownName } from './name-parameters.ts';
export {
  countValues,
  getValue,
  listValues,
  parameterValuesMax,
  parseParameter,
  type Parameter,
  type ParameterValues,
} from './parse-parameter.ts';
export { parseParameterTable, type ParameterTable } from './parse-table.ts';
export { readTable, type TableFormat, type TableRow } from './read-table.ts';
