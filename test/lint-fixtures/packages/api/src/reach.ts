// api-knows-only-core
import { serve } from '../../runtime/src/serve.ts';
export const reach = serve;
