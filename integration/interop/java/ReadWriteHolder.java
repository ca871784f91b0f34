import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/**
 * Takes a read-write lock, to write if {@code write} is not 0, and holds it until told to release. Prints "busy" and
 * ends if that was not free within {@code wait} milliseconds, else "held" and, later, "released".
 */
final class ReadWriteHolder {
    private final Interop.Arguments arguments;

    ReadWriteHolder(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    void run(CountDownLatch end) throws Exception {
        Actor actor = new Actor("holder", arguments);
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(actor.client, arguments.path);
        InterProcessMutex half = arguments.number("write", 0) != 0 ? lock.writeLock() : lock.readLock();
        boolean held = actor.call(() -> half.acquire(arguments.number("wait", 0), TimeUnit.MILLISECONDS));
        if (!held) {
            System.out.println("busy");
        } else {
            System.out.println("held");
            end.await();
            actor.call(() -> {
                half.release();
                return null;
            });
            System.out.println("released");
        }
        actor.close();
    }
}
