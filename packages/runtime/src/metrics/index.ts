export { Metrics } from './metrics.ts';
export { startHttp, type HttpOptions, type RunningHttp } from './http.ts';
