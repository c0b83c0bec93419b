export { detectFormat, type Format } from './detect-format.ts';
export { decodeText } from './decode-text.ts';
export { FormatError, type FormatProblem, type FurtherProblems } from './format-error.ts';
export { parseFailureTrace, type FailureTrace, type NodeFailures } from './fta/parse-failure-trace.ts';
export { jobDefaults } from './job-defaults.ts';
export { parseJdf, readJdf, type JdfJob, type JdfPlace, type JdfReading } from './jdf/parse-jdf.ts';
export { printJdf } from './jdf/print-jdf.ts';
export type { Warning } from './jdf/reader.ts';
export type { ListedMachine, ListedPeer, MachineList, MachineTemplates } from './machine-list/machine-list.ts';
export { parseMachineList } from './machine-list/parse-machine-list.ts';
export { notKnown, listProcessors, type SwfLineCounts, type SwfRecord, type SwfTrace } from './swf/swf-record.ts';
export { parseSwf, SwfReader } from './swf/swf-reader.ts';
export {
  selectRequests,
  type DroppedCounts,
  type SelectedRequests,
  type SelectOptions,
  type SwfRequest,
} from './swf/select-requests.ts';
export { printCsvRow, type Cell } from './values/csv.ts';
export { parseDuration, printDuration } from './values/duration.ts';
export { parseSelector, printSelector, selectNumbers, type NumberRange, type Selector } from './values/selector.ts';
export {
  parseGpuDevices,
  parseGpus,
  parseNamedResource,
  parseResources,
  type GpuRequest,
  type ResourceTexts,
} from './values/resources.ts';
export { parseAlternative, printAlternative } from './values/alternative.ts';
export { parseSize } from './values/size.ts';
export { makeTaskGroup, parseArray, parseLines, type TaskGroupOptions } from './values/task-group.ts';
