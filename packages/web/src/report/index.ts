export { readReport, type JobReport, type ReportBroker } from './read-report.ts';
export { readReportScript } from './report-script.ts';
export { renderReport } from './render-report.ts';
