import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** What one thread acquires and releases, again and again. Of a mutex the thread must be the same. */
interface Locker {
    void acquire() throws Exception;

    void release() throws Exception;

    static Locker of(CuratorFramework client, String kind, String path) {
        switch (kind) {
            case "mutex":
                return of(new InterProcessMutex(client, path));
            case "read":
                return of(new InterProcessReadWriteLock(client, path).readLock());
            case "write":
                return of(new InterProcessReadWriteLock(client, path).writeLock());
            case "semaphore":
                return new Permit(new InterProcessSemaphoreV2(client, path, Contender.PERMITS));
            case "leader":
                return new Term(client, path);
            default:
                throw new IllegalArgumentException("no kind " + kind);
        }
    }

    static Locker of(InterProcessLock lock) {
        return new Locker() {
            @Override
            public void acquire() throws Exception {
                lock.acquire();
            }

            @Override
            public void release() throws Exception {
                lock.release();
            }
        };
    }

    /** A permit of a semaphore. */
    final class Permit implements Locker {
        private final InterProcessSemaphoreV2 semaphore;
        private Lease lease;

        Permit(InterProcessSemaphoreV2 semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        public void acquire() throws Exception {
            lease = semaphore.acquire();
        }

        @Override
        public void release() {
            semaphore.returnLease(lease);
        }
    }

    /** A term of a leader. A latch can be used once. */
    final class Term implements Locker {
        private final CuratorFramework client;
        private final String path;
        private LeaderLatch latch;

        Term(CuratorFramework client, String path) {
            this.client = client;
            this.path = path;
        }

        @Override
        public void acquire() throws Exception {
            latch = new LeaderLatch(client, path);
            latch.start();
            latch.await();
        }

        @Override
        public void release() throws Exception {
            latch.close();
        }
    }
}
