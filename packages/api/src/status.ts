export { Status } from './generated/google/rpc/status.ts';
export { BadRequest, ErrorInfo } from './generated/google/rpc/error_details.ts';
