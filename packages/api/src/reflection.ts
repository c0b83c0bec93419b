export {
  ServerReflectionService,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from './generated/grpc/reflection/v1/reflection.ts';
export { ServerReflectionService as ServerReflectionAlphaService } from './generated/grpc/reflection/v1alpha/reflection.ts';
