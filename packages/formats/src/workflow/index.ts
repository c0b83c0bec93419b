export { convertWorkflow, writtenFormats, type ConvertedWorkflow, type WrittenFormatName } from './convert-workflow.ts';
export { daxParts, daxVersions } from './dax/dax-parts.ts';
export { parseDax } from './dax/parse-dax.ts';
export { printDax } from './dax/print-dax.ts';
export { profileParts } from './dax/profiles.ts';
export type { FormatPart, PartUse } from './format-parts.ts';
export { jobXmlParts, parseJobXml, printJobXml } from './job-xml.ts';
export { parseWorkflow } from './parse-workflow.ts';
export { printDot } from './print-dot.ts';
export { printYaml } from './print-yaml.ts';
export { parseProcessorsConf } from './processors-conf.ts';
export { parseWfFormat } from './wf-format/parse-wf-format.ts';
export { printWfFormat, wfFormatVersion } from './wf-format/print-wf-format.ts';
export { wfFormatVersions, wfParts } from './wf-format/wf-parts.ts';
export {
  getDraft,
  referenceSpeed,
  type DocumentEdge,
  type DocumentTask,
  type TextPlace,
  type WorkflowDocument,
  type WorkflowFile,
} from './workflow-document.ts';
export { makeWorkflowJob, type WorkflowJob, type WorkflowJobOptions } from './workflow-job.ts';
export { parseYamlWorkflow } from './yaml-workflow.ts';
