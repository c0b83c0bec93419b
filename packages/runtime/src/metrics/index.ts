export { Metrics, type SeriesDescription } from './metrics.ts';
export { startHttp, type HttpOptions, type RunningHttp } from './http.ts';
