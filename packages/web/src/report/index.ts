export { readReport, type JobReport, type ReportBroker } from './read-report.ts';
export { renderReport } from './render-report.ts';
