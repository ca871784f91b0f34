import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** Four owners try what a read-write lock grants and refuses. Each line is deterministic. */
final class ReadWriteScript {
    private final Interop.Arguments arguments;

    ReadWriteScript(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    /** An owner with both halves of the lock. */
    private final class Owner {
        private final Actor actor;
        private final InterProcessReadWriteLock lock;

        Owner(String name) throws Exception {
            actor = new Actor(name, arguments);
            lock = new InterProcessReadWriteLock(actor.client, arguments.path);
        }

        void tryRead() throws Exception {
            actor.say("tries to read", () -> lock.readLock().acquire(0, TimeUnit.MILLISECONDS));
        }

        void tryWrite() throws Exception {
            actor.say("tries to write", () -> lock.writeLock().acquire(0, TimeUnit.MILLISECONDS));
        }

        void stopReading() throws Exception {
            release("stops reading", lock.readLock());
        }

        void stopWriting() throws Exception {
            release("stops writing", lock.writeLock());
        }

        private void release(String what, InterProcessMutex half) throws Exception {
            actor.say(what, () -> {
                half.release();
                return "done";
            });
        }
    }

    void run() throws Exception {
        Owner ann = new Owner("ann");
        Owner bob = new Owner("bob");
        Owner eve = new Owner("eve");
        Owner max = new Owner("max");

        ann.tryRead();
        bob.tryRead();
        eve.tryWrite();

        Future<Boolean> writes =
                eve.actor.start(() -> eve.lock.writeLock().acquire(Clients.LIMIT_SECONDS, TimeUnit.SECONDS));
        Clients.awaitChildren(max.actor.client, arguments.path, 3);
        System.out.println("eve waits to write");
        max.tryRead(); // behind her
        ann.tryRead(); // she reads already, and re-enters
        ann.stopReading();
        ann.stopReading();
        bob.stopReading();
        System.out.println("eve writes: " + Actor.result(writes));

        max.tryRead();
        max.tryWrite();
        eve.tryWrite(); // once more
        eve.tryRead(); // a writer may read as well, and keep that
        eve.stopWriting();
        max.tryRead(); // she has released writing once, but not twice
        eve.stopWriting();
        max.tryRead();
        eve.tryWrite(); // a reader may not write
        eve.stopReading();
        max.stopReading();

        max.tryWrite();
        max.actor.close(); // while it holds the lock
        ann.tryWrite();
        ann.stopWriting();
        for (Owner owner : new Owner[] {ann, bob, eve}) {
            owner.actor.close();
        }
    }
}
