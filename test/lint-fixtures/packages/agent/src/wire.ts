// wire-only-in-runtime
import { credentials } from '@grpc/grpc-js';
export const wire = credentials;
