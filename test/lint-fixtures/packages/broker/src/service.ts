// no-service-imports-a-service
import { provide } from '../../provider/src/provide.ts';
export const service = provide;
