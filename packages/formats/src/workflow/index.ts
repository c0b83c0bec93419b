export { parseDax, printDax } from './dax.ts';
export { parseJobXml, printJobXml } from './job-xml.ts';
export { parseWorkflow } from './parse-workflow.ts';
export { printDot } from './print-dot.ts';
export { parseProcessorsConf } from './processors-conf.ts';
export { parseWfFormat, printWfFormat, wfFormatVersion } from './wf-format.ts';
export { draftOf, referenceSpeed, type DocumentEdge, type DocumentTask, type TextPlace, type WorkflowDocument, type WorkflowFile } from './workflow-document.ts';
export { makeWorkflowJob, type WorkflowJob, type WorkflowJobOptions } from './workflow-job.ts';
export { parseYamlWorkflow } from './yaml-workflow.ts';
